// Training: epochs of steps over shuffled positions, on all threads, and the losses. The same seed,
// positions and number of threads give the same net, bit for bit on the same machine and build.
#pragma once

#include "learn/train_crew.h"
#include "learn/train_loss.h"
#include "learn/train_optimiser.h"
#include "learn/train_quantise.h"
#include "learn/train_set.h"

// All that decides, with the positions, what comes out. Plain data: it stands in checkpoints.
typedef struct TrainSettings {
    int64_t buckets, epochs, batch, threads;
    uint64_t seed;
    double rate, lambda, scale, decay;
} TrainSettings;

typedef struct Trainer {
    TrainSettings settings;
    LossRule rule;
    const uint8_t *bucket_of; // as CompactNet has it
    Optimiser optimiser;
    Weights running;
    Crew *crew;
    // One a thread.
    Weights *gradients;
    TrainBlock *blocks;
    double *losses;
    int64_t epoch;                                              // epochs done
    void (*progress)(int64_t done, int64_t total, void *where); // positions of the epoch; or NULL
    void *progress_where;
} Trainer;

// Ready for the first epoch. `settings.buckets` is one that train_buckets knows.
void trainer_init(Trainer *trainer, const TrainSettings *settings);
void trainer_release(Trainer *trainer);
// After the optimiser's weights were set from elsewhere (a checkpoint): makes the running net.
void trainer_refold(Trainer *trainer);

// Steps an epoch takes over so many positions: batches of nearly the same size, none small.
int64_t trainer_steps(const TrainSettings *settings, size_t positions);
// One epoch in an order that depends on seed and epoch alone; returns the mean loss, each
// position's taken before the step that it took part in.
double trainer_epoch(Trainer *trainer, const TrainPositions *positions);
// Mean losses: of the net as it is; of its quantised form, with the largest absolute value that an
// accumulator has on these positions.
double trainer_loss(Trainer *trainer, const TrainPositions *positions);
double trainer_quantised_loss(Trainer *trainer, const CompactNet *net,
                              const TrainPositions *positions, int *accumulator_most);

// What a net is to be measured by: losses on `validation` of always saying the mean of the training
// targets, and of the classical evaluation.
typedef struct TrainBaselines {
    double constant, classical;
} TrainBaselines;
TrainBaselines trainer_baselines(const Trainer *trainer, const TrainSet *set);
