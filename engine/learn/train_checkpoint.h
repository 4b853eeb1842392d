// The state of a training run between two epochs, on disk, so that an interrupted run continues
// with the same results. A checkpoint can only be read on the kind of machine that wrote it,
// because numbers are stored as they lie in memory. A checksum stands at the end.
#pragma once

#include "learn/train.h"
#include "learn/train_chart.h"

// `fingerprint` is that of the positions. Replaces FOLDER/checkpoint in one step, on disk when it
// returns.
bool checkpoint_write(const char *folder, const Trainer *trainer, uint64_t fingerprint,
                      const TrainHistory *history, Refusal *err)
    __attribute__((warn_unused_result));
bool checkpoint_exists(const char *folder);
// Into a trainer that was just made by the settings and positions of the run. False, with a reason:
// no checkpoint, a damaged one, or one of other settings or positions. The number of threads alone
// may differ; then sums are rounded differently from there on.
bool checkpoint_read(const char *folder, Trainer *trainer, uint64_t fingerprint,
                     TrainHistory *history, Refusal *err) __attribute__((warn_unused_result));
