// The training loop. Each thread has a gradient of its own and computes it over a fixed share of
// the batch. The order of all additions is therefore fixed, and the result does not depend on
// timing.
#include "learn/train.h"

#include <stdio.h>
#include <stdlib.h>

#include "learn/train_random.h"

static void *new_or_die(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "anvil: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

void trainer_init(Trainer *trainer, const TrainSettings *settings) {
    int buckets = (int)settings->buckets, threads = (int)settings->threads;
    *trainer = (Trainer){.settings = *settings, .bucket_of = train_buckets(buckets)};
    trainer->rule = (LossRule){(float)settings->lambda, (float)settings->scale};
    trainer->crew = crew_new(threads);
    trainer->gradients = new_or_die((size_t)threads, sizeof *trainer->gradients);
    trainer->blocks = new_or_die((size_t)threads, sizeof *trainer->blocks);
    trainer->losses = new_or_die((size_t)threads, sizeof *trainer->losses);
    for (int i = 0; i < threads; i++)
        weights_init(&trainer->gradients[i], buckets);
    optimiser_init(&trainer->optimiser, buckets);
    weights_init(&trainer->running, buckets);
    weights_start(&trainer->optimiser.learned, settings->seed);
    trainer_refold(trainer);
}

void trainer_release(Trainer *trainer) {
    for (int i = 0; trainer->gradients && i < trainer->settings.threads; i++)
        weights_release(&trainer->gradients[i]);
    optimiser_release(&trainer->optimiser);
    weights_release(&trainer->running);
    crew_free(trainer->crew);
    free(trainer->gradients);
    free(trainer->blocks);
    free(trainer->losses);
    *trainer = (Trainer){0};
}

void trainer_refold(Trainer *trainer) {
    weights_fold(&trainer->optimiser.learned, &trainer->running, 0, NET_FEATURES);
    weights_fold_dense(&trainer->optimiser.learned, &trainer->running);
}

static double losses_sum(const Trainer *trainer) {
    double sum = 0;
    for (int i = 0; i < trainer->settings.threads; i++)
        sum += trainer->losses[i];
    return sum;
}

// ---- one step ----------------------------------------------------------------------------------

// The positions [first, last) in the order `order`, or in the order of the array if `order` is
// NULL. `sorted` has room for the same part of an order.
typedef struct TrainBatch {
    Trainer *trainer;
    const TrainPosition *positions;
    const uint32_t *order;
    uint32_t *sorted;
    long first, last;
    StepRates rates;
} TrainBatch;

static const TrainPosition *batch_position(const TrainBatch *batch, long i) {
    return &batch->positions[batch->order ? batch->sorted[i] : (uint32_t)i];
}

// Sorts the positions of a share so that positions with the same rows follow each other: the rows
// of all buckets together do not fit the caches. This is a counting sort.
static void sort_by_kings(const TrainBatch *batch, long first, long last) {
    const Trainer *trainer = batch->trainer;
    long places[NET_BUCKETS_MAX * NET_BUCKETS_MAX + 1] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (long i = first; i < last; i++) {
            const TrainPosition *position = &batch->positions[batch->order[i]];
            int key = train_bucket(trainer->bucket_of, position->kings[0]) * NET_BUCKETS_MAX +
                      train_bucket(trainer->bucket_of, position->kings[1]);
            if (pass == 0)
                places[key + 1]++;
            else
                batch->sorted[first + places[key]++] = batch->order[i];
        }
        for (int key = 1; pass == 0 && key <= NET_BUCKETS_MAX * NET_BUCKETS_MAX; key++)
            places[key] += places[key - 1];
    }
}

// Fills a block with the positions from `at` on, but not beyond `end`, and runs the net.
static void block_forward(const TrainBatch *batch, long at, long end, TrainBlock *block) {
    const Trainer *trainer = batch->trainer;
    block->count = end - at < TRAIN_BLOCK ? (int)(end - at) : TRAIN_BLOCK;
    for (int i = 0; i < block->count; i++)
        train_position_features(batch_position(batch, at + i), trainer->bucket_of,
                                &block->features[i]);
    train_forward(&trainer->running, block);
}

// The sum of the losses of a block. Also their derivatives, each multiplied by `weight`.
static double block_losses(const TrainBatch *batch, long at, float weight, TrainBlock *block) {
    const LossRule *rule = &batch->trainer->rule;
    double sum = 0;
    for (int i = 0; i < block->count; i++) {
        float target = loss_target(rule, batch_position(batch, at + i));
        float q = chance_of_output(rule, block->out[i]);
        sum += loss_value(q, target);
        block->dout[i] = weight * loss_slope(rule, q, target);
    }
    return sum;
}

static void batch_gradient(void *context, int index, int count) {
    const TrainBatch *batch = context;
    Trainer *trainer = batch->trainer;
    TrainBlock *block = &trainer->blocks[index];
    long size = batch->last - batch->first;
    long at = batch->first + crew_share(size, index, count);
    long end = batch->first + crew_share(size, index + 1, count);
    double sum = 0;
    sort_by_kings(batch, at, end);
    for (; at < end; at += block->count) {
        block_forward(batch, at, end, block);
        sum += block_losses(batch, at, 1 / (float)size, block);
        train_backward(&trainer->running, block, &trainer->gradients[index]);
    }
    trainer->losses[index] = sum;
}

static void batch_step(void *context, int index, int count) {
    const TrainBatch *batch = context;
    Trainer *trainer = batch->trainer;
    optimiser_step_rows(&trainer->optimiser, &batch->rates, trainer->gradients, count,
                        (int)crew_share(NET_FEATURES, index, count),
                        (int)crew_share(NET_FEATURES, index + 1, count), &trainer->running);
    if (index == 0)
        optimiser_step_dense(&trainer->optimiser, &batch->rates, trainer->gradients, count,
                             &trainer->running);
}

static double train_batch(Trainer *trainer, TrainBatch *batch, int64_t steps_total) {
    Optimiser *optimiser = &trainer->optimiser;
    double rate = optimiser_schedule(trainer->settings.rate, optimiser->steps, steps_total);
    batch->rates = optimiser_rates(optimiser, rate, trainer->settings.decay);
    crew_run(trainer->crew, batch_gradient, batch);
    crew_run(trainer->crew, batch_step, batch);
    optimiser->steps++;
    return losses_sum(trainer);
}

// ---- one epoch ---------------------------------------------------------------------------------

// A random order, by Fisher and Yates as Durstenfeld wrote it (1964).
static uint32_t *new_order(size_t count, uint64_t seed, int64_t epoch) {
    uint32_t *order = new_or_die(count, sizeof *order);
    uint64_t state = random_stream(seed, STREAM_ORDER + (uint64_t)epoch);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = random_index(&state, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

int64_t trainer_steps(const TrainSettings *settings, size_t positions) {
    int64_t steps = ((int64_t)positions + settings->batch / 2) / settings->batch;
    return steps > 1 ? steps : 1;
}

double trainer_epoch(Trainer *trainer, const TrainPositions *positions) {
    int64_t steps = trainer_steps(&trainer->settings, positions->count);
    int64_t total = (int64_t)positions->count;
    uint32_t *order = new_order(positions->count, trainer->settings.seed, trainer->epoch);
    uint32_t *sorted = new_or_die(positions->count, sizeof *sorted);
    double sum = 0;
    for (int64_t i = 0; i < steps; i++) {
        TrainBatch batch = {.trainer = trainer,
                            .positions = positions->at,
                            .order = order,
                            .sorted = sorted,
                            .first = total * i / steps,
                            .last = total * (i + 1) / steps};
        sum += train_batch(trainer, &batch, steps * trainer->settings.epochs);
        if (trainer->progress)
            trainer->progress(batch.last, total, trainer->progress_where);
    }
    free(order);
    free(sorted);
    trainer->epoch++;
    return sum / (double)total;
}

// ---- losses ------------------------------------------------------------------------------------

static void measure(void *context, int index, int count) {
    const TrainBatch *batch = context;
    TrainBlock *block = &batch->trainer->blocks[index];
    long at = crew_share(batch->last, index, count),
         end = crew_share(batch->last, index + 1, count);
    double sum = 0;
    for (; at < end; at += block->count) {
        block_forward(batch, at, end, block);
        sum += block_losses(batch, at, 0, block);
    }
    batch->trainer->losses[index] = sum;
}

double trainer_loss(Trainer *trainer, const TrainPositions *positions) {
    TrainBatch batch = {
        .trainer = trainer, .positions = positions->at, .last = (long)positions->count};
    crew_run(trainer->crew, measure, &batch);
    return losses_sum(trainer) / (double)positions->count;
}

typedef struct QuantisedBatch {
    Trainer *trainer;
    const CompactNet *net;
    const TrainPositions *positions;
    int most[CREW_MAX]; // the largest accumulator value of each thread
} QuantisedBatch;

static void measure_quantised(void *context, int index, int count) {
    QuantisedBatch *batch = context;
    const LossRule *rule = &batch->trainer->rule;
    long total = (long)batch->positions->count;
    double sum = 0;
    for (long i = crew_share(total, index, count); i < crew_share(total, index + 1, count); i++) {
        const TrainPosition *position = &batch->positions->at[i];
        TrainFeatures features;
        train_position_features(position, batch->net->bucket_of, &features);
        int32_t raw = train_quantised(batch->net, &features, &batch->most[index]);
        float q = chance_of_output(rule, (float)raw / TRAIN_RAW_PER_OUTPUT);
        sum += loss_value(q, loss_target(rule, position));
    }
    batch->trainer->losses[index] = sum;
}

double trainer_quantised_loss(Trainer *trainer, const CompactNet *net,
                              const TrainPositions *positions, int *accumulator_most) {
    QuantisedBatch batch = {.trainer = trainer, .net = net, .positions = positions};
    crew_run(trainer->crew, measure_quantised, &batch);
    for (int i = 0; i < trainer->settings.threads; i++)
        if (batch.most[i] > *accumulator_most)
            *accumulator_most = batch.most[i];
    return losses_sum(trainer) / (double)positions->count;
}

TrainBaselines trainer_baselines(const Trainer *trainer, const TrainSet *set) {
    const LossRule *rule = &trainer->rule;
    double mean = 0;
    TrainBaselines sums = {0};
    for (size_t i = 0; i < set->training.count; i++)
        mean += loss_target(rule, &set->training.at[i]);
    mean /= (double)set->training.count;
    for (size_t i = 0; i < set->validation.count; i++) {
        const TrainPosition *position = &set->validation.at[i];
        float target = loss_target(rule, position);
        sums.constant += loss_value((float)mean, target);
        sums.classical += loss_value(chance_of_score(rule, position->classical), target);
    }
    sums.constant /= (double)set->validation.count;
    sums.classical /= (double)set->validation.count;
    return sums;
}
