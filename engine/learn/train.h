// Training: epochs of steps over shuffled positions, on all threads, and the losses. The same seed,
// positions and number of threads give the same net, bit for bit on the same machine and build.
#pragma once

#include "learn/train_crew.h"
#include "learn/train_loss.h"
#include "learn/train_optimiser.h"
#include "learn/train_quantise.h"
#include "learn/train_set.h"

// The settings that, together with the positions, decide the result. Plain data: checkpoints
// contain it.
typedef struct TrainSettings {
    int64_t buckets, epochs, batch, threads;
    uint64_t seed;
    double rate, lambda, scale, decay;
} TrainSettings;

typedef struct Trainer {
    TrainSettings settings;
    LossRule rule;
    const uint8_t *bucket_of; // as in CompactNet
    Optimiser optimiser;
    Weights running;
    Crew *crew;
    // One for each thread.
    Weights *gradients;
    TrainBlock *blocks;
    double *losses;
    int64_t epoch; // epochs done
    void (*progress)(int64_t done, int64_t total,
                     void *where); // called with the positions done in this epoch; or NULL
    void *progress_where;
} Trainer;

// Prepares the first epoch. `settings.buckets` is a number that train_buckets() accepts.
void trainer_init(Trainer *trainer, const TrainSettings *settings);
void trainer_release(Trainer *trainer);
// Computes the running net from the optimiser's weights. Call it after they were set from a
// checkpoint.
void trainer_refold(Trainer *trainer);

// The number of steps of an epoch over `positions` positions. All batches have nearly the same
// size.
int64_t trainer_steps(const TrainSettings *settings, size_t positions);
// Runs one epoch. The order of positions depends on seed and epoch alone. Returns the mean loss;
// the loss of a position is taken before the step that the position is part of.
double trainer_epoch(Trainer *trainer, const TrainPositions *positions);
// The mean loss of the net, and (below) of its quantised form. The second function also returns the
// largest absolute value that an accumulator has on these positions.
double trainer_loss(Trainer *trainer, const TrainPositions *positions);
double trainer_quantised_loss(Trainer *trainer, const CompactNet *net,
                              const TrainPositions *positions, int *accumulator_most);

// Losses to compare a net with, on `validation`: of a constant prediction, which is the mean of the
// training targets, and of the classical evaluation.
typedef struct TrainBaselines {
    double constant, classical;
} TrainBaselines;
TrainBaselines trainer_baselines(const Trainer *trainer, const TrainSet *set);
