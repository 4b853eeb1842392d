// The losses of a training run as a table (CSV) and as a chart (SVG).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TrainRow {
    int64_t epoch, steps; // done
    double rate;          // of the last step
    double training, validation;
    double speed; // positions a second
} TrainRow;

enum { TRAIN_EPOCHS_MAX = 10000 };
typedef struct TrainHistory {
    double constant, classical; // losses to compare with; see TrainBaselines
    int64_t count;
    TrainRow rows[TRAIN_EPOCHS_MAX];
} TrainHistory;

// A new text, to be freed. `*size` is set to its length.
char *history_csv(const TrainHistory *history, size_t *size);
char *history_svg(const TrainHistory *history, size_t *size);
