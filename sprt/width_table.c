// See width_table.h. The table has a line for each combination of the values. An option replaces a
// list of values with one value.
#include "sprt/width_table.h"

#include "sprt/width_trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 6 };

typedef enum { X, DRAWS, NELO, BATCH, RUNS, SEED, NUMBER_COUNT } Number;

typedef struct Values {
    const char *option;
    double low, high; // limits of the option
    bool whole;
    int count;
    double list[VALUES_MAX];
} Values;

typedef struct Table {
    bool units[2]; // by SprtModel
    Values numbers[NUMBER_COUNT];
} Table;

static const char *const UNITS[] = {
    [SPRT_LOGISTIC] = "logistic",
    [SPRT_NORMALIZED] = "normalized",
};

static const Table DEFAULTS = {
    .units = {true, true},
    .numbers =
        {
            [X] = {"--x", WIDTH_ELO_MIN, WIDTH_ELO_MAX, false, 3, {1, 3, 10}},
            [DRAWS] = {"--draws", 0.01, 0.999, false, 6, {0.3, 0.6, 0.8, 0.9, 0.95, 0.98}},
            [NELO] = {"--nelo", -100, 100, false, 2, {0, 20}},
            [BATCH] = {"--batch", 1, PAIR_BATCH_MAX, true, 2, {16, 32}},
            [RUNS] = {"--runs", 1, 1e6, true, 1, {10000}},
            [SEED] = {"--seed", 0, 1e9, true, 1, {1}},
        },
};

static bool fail(const char *option, const char *why) {
    fprintf(stderr, "sprt width: %s %s\n", option, why);
    return false;
}

static bool read_unit(Table *table, const char *text) {
    bool logistic = strcmp(text, UNITS[SPRT_LOGISTIC]) == 0;
    if (!logistic && strcmp(text, UNITS[SPRT_NORMALIZED]) != 0)
        return fail("--unit", "must be logistic or normalized");
    table->units[SPRT_LOGISTIC] = logistic;
    table->units[SPRT_NORMALIZED] = !logistic;
    return true;
}

static bool read_number(Values *values, const char *text) {
    char *end, why[80];
    double value = strtod(text, &end);
    snprintf(why, sizeof why, "must be a %snumber from %g to %g", values->whole ? "whole " : "",
             values->low, values->high);
    if (end == text || *end != '\0' || !(value >= values->low && value <= values->high) ||
        (values->whole && value != floor(value)))
        return fail(values->option, why);
    values->list[0] = value;
    values->count = 1;
    return true;
}

static bool read_option(Table *table, const char *option, const char *text) {
    if (!text)
        return fail(option, "has no value");
    if (strcmp(option, "--unit") == 0)
        return read_unit(table, text);
    for (int i = 0; i < NUMBER_COUNT; i++)
        if (strcmp(option, table->numbers[i].option) == 0)
            return read_number(&table->numbers[i], text);
    return fail(option, "is not an option");
}

static bool print_cell(const WidthTrial *trial, int runs, uint64_t seed) {
    WidthCoverage c = width_simulate(trial, runs, seed);
    printf("{\"unit\":\"%s\",\"x\":%g,\"draw_share\":%g,\"nelo\":%g,\"batch\":%d,\"runs\":%d,"
           "\"pairs_expected\":%.0f,",
           UNITS[trial->rule.unit], trial->rule.elo, trial->draw_share, trial->nelo,
           trial->batch_pairs, runs, width_pairs_expected(&trial->rule, trial->draw_share));
    if (isnan(c.coverage)) // no distribution has this draw share and this difference
        printf("\"truth\":null,\"coverage\":null,\"pairs\":null}\n");
    else
        printf("\"truth\":%.3f,\"coverage\":%.4f,\"pairs\":%.0f}\n", c.truth, c.coverage, c.pairs);
    return fflush(stdout) == 0;
}

// The combination of the given number, counted from 0.
static WidthTrial trial_of(const Table *table, SprtModel unit, int number) {
    int at[BATCH + 1];
    for (int i = BATCH; i >= X; i--) {
        at[i] = number % table->numbers[i].count;
        number /= table->numbers[i].count;
    }
    const Values *n = table->numbers;
    return (WidthTrial){
        .rule = {.unit = unit, .elo = n[X].list[at[X]]},
        .draw_share = n[DRAWS].list[at[DRAWS]],
        .nelo = n[NELO].list[at[NELO]],
        .batch_pairs = (int)n[BATCH].list[at[BATCH]],
    };
}

static bool print_unit(const Table *table, SprtModel unit) {
    int combinations = 1, runs = (int)table->numbers[RUNS].list[0];
    uint64_t seed = (uint64_t)table->numbers[SEED].list[0];
    for (int i = X; i <= BATCH; i++)
        combinations *= table->numbers[i].count;
    for (int i = 0; i < combinations; i++) {
        WidthTrial trial = trial_of(table, unit, i);
        if (!print_cell(&trial, runs, seed))
            return false;
    }
    return true;
}

int width_table(int count, char **args) {
    Table table = DEFAULTS;
    for (int i = 0; i < count; i += 2)
        if (!read_option(&table, args[i], i + 1 < count ? args[i + 1] : NULL))
            return 2;
    for (int unit = SPRT_LOGISTIC; unit <= SPRT_NORMALIZED; unit++)
        if (table.units[unit] && !print_unit(&table, (SprtModel)unit)) {
            perror("sprt width");
            return 1;
        }
    return 0;
}
