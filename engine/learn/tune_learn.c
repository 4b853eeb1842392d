// The learning: the score of a position from the values, its error, and the gradient of the error.
//
// A batch of positions is cut into a fixed number of slices, which the threads take one by one. The
// sums of the slices are added in the order of the slices, so the result does not depend on the
// number of threads.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "eval/king.h"
#include "learn/tune.h"

enum { SLICES = 64, BATCH = 16384 };
enum { TEMPO_INDEX = offsetof(EvalValues, tempo) / sizeof(int32_t) };

// Adam (Kingma and Ba 2015). The rate is in centipawns per step and falls to 0 along a cosine.
static const double RATE = 1, MOMENTUM = 0.9, VARIANCE = 0.999, TINY = 1e-12;
typedef struct Gradient {
    TuneWeights sum;
    double loss;
} Gradient;

// The derivatives of a position's score.
typedef struct Slopes {
    double mg, eg;           // by the two values of a pair
    double danger[COLOR_NB]; // by a unit of a king's danger
    double winnable, tempo;
} Slopes;

// ---- weights -----------------------------------------------------------------------------------

void tune_weights_init(TuneWeights *weights, const EvalValues *values) {
    const int32_t *value = (const int32_t *)values;
    int index = 0;
    for (int row = 0; row < EVAL_ROW_COUNT; row++)
        for (int i = 0; i < EVAL_ROWS[row].count; i++, index++) {
            bool pair = EVAL_ROWS[row].kind == VALUE_LINEAR;
            weights->mg[index] = pair ? pair_mg(value[index]) : value[index];
            weights->eg[index] = pair ? pair_eg(value[index]) : 0;
        }
}

void tune_weights_round(const TuneWeights *weights, EvalValues *out) {
    int32_t *value = (int32_t *)out;
    int index = 0;
    for (int row = 0; row < EVAL_ROW_COUNT; row++)
        for (int i = 0; i < EVAL_ROWS[row].count; i++, index++) {
            int mg = (int)lround(weights->mg[index]), eg = (int)lround(weights->eg[index]);
            value[index] = EVAL_ROWS[row].kind == VALUE_LINEAR ? PAIR(mg, eg) : mg;
        }
}

// ---- score -------------------------------------------------------------------------------------

// The cost of a king's danger, and its derivative.
static void danger_cost(double quarters, double cost[2], double slope[2]) {
    double units = quarters / 4;
    bool moves = units > 0 && units < DANGER_MAX;
    units = fmin(fmax(units, 0), DANGER_MAX);
    cost[0] = units * units / DANGER_SQUARE;
    cost[1] = units / DANGER_LINE;
    slope[0] = moves ? 2 * units / DANGER_SQUARE : 0;
    slope[1] = moves ? 1.0 / DANGER_LINE : 0;
}

static double sum_items(const TuneItem *items, int count, const double *values) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += items[i].count * values[items[i].index];
    return sum;
}

// winnable_endgame() in real numbers. Returns the derivative of the result by `*eg`: 1 or 0.
static double winnable_endgame_of(double *eg, double winnable_by) {
    double size = fabs(*eg) + winnable_by;
    bool moves = *eg != 0 && size > 0;
    *eg = moves ? copysign(size, *eg) : 0;
    return moves;
}

// eval_mix() in real numbers, White's view.
static double score_of(const TuneSet *set, const TunePosition *pos, const TuneWeights *weights,
                       Slopes *slopes) {
    const TuneItem *item = set->items + pos->first;
    double mg = sum_items(item, pos->linear, weights->mg);
    double eg = sum_items(item, pos->linear, weights->eg);
    double slope[COLOR_NB][2], cost[2];
    item += pos->linear;
    for (int us = WHITE; us <= BLACK; us++) {
        danger_cost(sum_items(item, pos->dangers[us], weights->mg), cost, slope[us]);
        item += pos->dangers[us];
        mg -= us == WHITE ? cost[0] : -cost[0];
        eg -= us == WHITE ? cost[1] : -cost[1];
    }
    double damping = (200 - (pos->rule50 < 100 ? pos->rule50 : 100)) / 200.0;
    double scale = pos->scale[eg > 0 ? WHITE : BLACK] / 64.0;
    double moves = winnable_endgame_of(&eg, sum_items(item, pos->winnable, weights->mg));
    slopes->mg = damping * pos->phase / PHASE_FULL;
    slopes->eg = damping * (PHASE_FULL - pos->phase) / PHASE_FULL * scale * moves;
    slopes->winnable = eg > 0 ? slopes->eg : -slopes->eg;
    for (int us = WHITE; us <= BLACK; us++)
        slopes->danger[us] =
            (us == WHITE ? -1 : 1) * (slopes->mg * slope[us][0] + slopes->eg * slope[us][1]);
    slopes->tempo = pos->side == WHITE ? damping : -damping;
    return mg * slopes->mg + eg * slopes->eg + slopes->tempo * weights->mg[TEMPO_INDEX];
}

double tune_score(const TuneSet *set, const TunePosition *pos, const TuneWeights *weights) {
    Slopes slopes;
    return score_of(set, pos, weights, &slopes);
}

// ---- one slice ---------------------------------------------------------------------------------

// The `k` of tune_loss() as a factor for exp().
static double steepness(double k) {
    return k * log(10) / 400;
}

// Adds `slope`, times the count of each item, to the sums.
static void add_items(const TuneItem *items, int count, double slope, double *sum) {
    for (int i = 0; i < count; i++)
        sum[items[i].index] += slope * items[i].count;
}

static void add_gradient(Gradient *gradient, const TuneSet *set, const TunePosition *pos,
                         const Slopes *slopes, double by_score) {
    const TuneItem *item = set->items + pos->first;
    add_items(item, pos->linear, by_score * slopes->mg, gradient->sum.mg);
    add_items(item, pos->linear, by_score * slopes->eg, gradient->sum.eg);
    item += pos->linear;
    for (int us = WHITE; us <= BLACK; us++) {
        add_items(item, pos->dangers[us], by_score * slopes->danger[us] / 4, gradient->sum.mg);
        item += pos->dangers[us];
    }
    add_items(item, pos->winnable, by_score * slopes->winnable, gradient->sum.mg);
    gradient->sum.mg[TEMPO_INDEX] += by_score * slopes->tempo;
}

typedef struct TuneBatch {
    const TuneSet *set;
    const TuneWeights *weights;
    const uint32_t *order; // of positions; NULL: the order of the array
    size_t first, count;
    double k;
    bool wants_gradient;
    Gradient *slices; // SLICES of them
    atomic_int next;
} TuneBatch;

static void do_slice(TuneBatch *batch, int number) {
    Gradient *gradient = &batch->slices[number];
    size_t from = batch->count * (size_t)number / SLICES;
    size_t to = batch->count * (size_t)(number + 1) / SLICES;
    const double steep = steepness(batch->k);
    if (batch->wants_gradient)
        memset(&gradient->sum, 0, sizeof gradient->sum);
    gradient->loss = 0;
    for (size_t i = batch->first + from; i < batch->first + to; i++) {
        const TunePosition *pos = &batch->set->positions[batch->order ? batch->order[i] : i];
        Slopes slopes;
        double score = score_of(batch->set, pos, batch->weights, &slopes);
        double expected = 1 / (1 + exp(-steep * score)), error = expected - pos->result;
        gradient->loss += error * error;
        if (batch->wants_gradient)
            add_gradient(gradient, batch->set, pos, &slopes,
                         2 * error * expected * (1 - expected) * steep);
    }
}

// ---- threads -----------------------------------------------------------------------------------

static void *take_slices(void *argument) {
    TuneBatch *batch = argument;
    for (int number; (number = atomic_fetch_add(&batch->next, 1)) < SLICES;)
        do_slice(batch, number);
    return NULL;
}

static void do_batch(TuneBatch *batch, int threads) {
    pthread_t helpers[SLICES];
    int count = 0;
    atomic_store(&batch->next, 0);
    while (count < threads - 1 && count < SLICES &&
           pthread_create(&helpers[count], NULL, take_slices, batch) == 0)
        count++;
    take_slices(batch);
    while (count > 0)
        pthread_join(helpers[--count], NULL);
}

static void *allocated(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        fputs("anvil: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

double tune_loss(const TuneSet *set, const TuneWeights *weights, double k, int threads) {
    Gradient *slices = allocated(SLICES, sizeof *slices);
    TuneBatch batch = {
        .set = set, .weights = weights, .count = set->count, .k = k, .slices = slices};
    double loss = 0;
    do_batch(&batch, threads);
    for (int i = 0; i < SLICES; i++)
        loss += slices[i].loss;
    free(slices);
    return set->count ? loss / (double)set->count : 0;
}

double tune_loss_of_constant(const TuneSet *set) {
    double sum = 0, squares = 0, count = (double)set->count;
    for (size_t i = 0; i < set->count; i++) {
        sum += set->positions[i].result;
        squares += set->positions[i].result * set->positions[i].result;
    }
    return set->count ? squares / count - sum / count * (sum / count) : 0;
}

// A ternary search: the loss has one minimum over k.
double tune_fit_k(const TuneSet *set, const TuneWeights *weights, int threads) {
    double low = 0.05, high = 5;
    for (int i = 0; i < 24; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (tune_loss(set, weights, a, threads) < tune_loss(set, weights, b, threads))
            high = b;
        else
            low = a;
    }
    return (low + high) / 2;
}

// ---- epochs ------------------------------------------------------------------------------------

typedef struct Learner {
    const TuneData *data;
    const TunePlan *plan;
    TuneWeights *weights, start, mean, square; // mean and square: Adam's memory
    uint32_t *order;
    Gradient *slices;
    uint64_t random, steps;
    double anchor; // added to the loss for each squared centipawn between a value and its start
} Learner;

static void shuffle(uint32_t *order, size_t count, uint64_t *random) {
    for (size_t i = count; i > 1; i--) {
        size_t j = random_next(random) % i;
        uint32_t last = order[i - 1];
        order[i - 1] = order[j];
        order[j] = last;
    }
}

// One step of one value, against its gradient.
static void step_value(double *value, double *mean, double *square, double gradient, double rate,
                       uint64_t steps) {
    *mean = MOMENTUM * *mean + (1 - MOMENTUM) * gradient;
    *square = VARIANCE * *square + (1 - VARIANCE) * gradient * gradient;
    double m = *mean / (1 - pow(MOMENTUM, (double)steps));
    double v = *square / (1 - pow(VARIANCE, (double)steps));
    *value -= rate * m / (sqrt(v) + TINY);
}

static void step(Learner *learner, size_t count, double rate) {
    const size_t values = sizeof(TuneWeights) / sizeof(double);
    double *value = (double *)learner->weights, *start = (double *)&learner->start;
    double *mean = (double *)&learner->mean, *square = (double *)&learner->square;
    learner->steps++;
    for (size_t i = 0; i < values; i++) {
        double sum = 0;
        for (int slice = 0; slice < SLICES; slice++)
            sum += ((const double *)&learner->slices[slice].sum)[i];
        double gradient = sum / (double)count + 2 * learner->anchor * (value[i] - start[i]);
        if (gradient != 0)
            step_value(&value[i], &mean[i], &square[i], gradient, rate, learner->steps);
    }
}

// Runs one epoch. Returns the mean loss of the training positions, taken during the epoch.
static double learn_epoch(Learner *learner, double rate) {
    const TuneSet *set = &learner->data->training;
    double loss = 0;
    shuffle(learner->order, set->count, &learner->random);
    for (size_t first = 0; first < set->count; first += BATCH) {
        size_t left = set->count - first;
        TuneBatch batch = {.set = set,
                           .weights = learner->weights,
                           .order = learner->order,
                           .first = first,
                           .count = left < BATCH ? left : BATCH,
                           .k = learner->plan->k,
                           .wants_gradient = true,
                           .slices = learner->slices};
        do_batch(&batch, learner->plan->threads);
        for (int i = 0; i < SLICES; i++)
            loss += learner->slices[i].loss;
        step(learner, batch.count, rate);
    }
    return loss / (double)set->count;
}

static void learn_epochs(Learner *learner) {
    const TunePlan *plan = learner->plan;
    const TuneSet *validation = &learner->data->validation;
    TuneWeights best = *learner->weights;
    double least = INFINITY;
    if (validation->count)
        least = tune_loss(validation, learner->weights, plan->k, plan->threads);
    for (int epoch = 0; epoch < plan->epochs; epoch++) {
        double rate = RATE * (1 + cos(acos(-1) * epoch / plan->epochs)) / 2;
        double training = learn_epoch(learner, rate);
        double checked = training;
        if (validation->count)
            checked = tune_loss(validation, learner->weights, plan->k, plan->threads);
        if (plan->progress)
            fprintf(plan->progress, "epoch %d of %d: loss %.6f, validation %.6f\n", epoch + 1,
                    plan->epochs, training, checked);
        if (checked < least) {
            least = checked;
            best = *learner->weights;
        }
    }
    *learner->weights = best;
}

// The approximate curvature of a position's loss by a value that counts once in it.
static double curvature(double k) {
    const double usual =
        0.2; // typical value of expected * (1 - expected), which is at most a quarter
    return steepness(k) * usual * (steepness(k) * usual);
}

void tune_learn(const TuneData *data, const TunePlan *plan, TuneWeights *weights) {
    size_t count = data->training.count;
    if (!count)
        return;
    Learner learner = {.data = data,
                       .plan = plan,
                       .weights = weights,
                       .start = *weights,
                       .random = random_stream(1, 0),
                       .anchor = plan->anchor * curvature(plan->k) / (double)count,
                       .order = allocated(count, sizeof *learner.order),
                       .slices = allocated(SLICES, sizeof *learner.slices)};
    for (size_t i = 0; i < count; i++)
        learner.order[i] = (uint32_t)i;
    learn_epochs(&learner);
    free(learner.order);
    free(learner.slices);
}
