// The state of a training run between two epochs, on disk, so that an interrupted run continues
// with the same results. A checkpoint can only be read on the kind of machine that wrote it,
// because numbers are stored as in memory. The file ends with a checksum.
#pragma once

#include "learn/train.h"
#include "learn/train_chart.h"

// Replaces FOLDER/checkpoint atomically; it is on disk when the function returns. `fingerprint` is
// that of the positions.
bool checkpoint_write(const char *folder, const Trainer *trainer, uint64_t fingerprint,
                      const TrainHistory *history, Refusal *err)
    __attribute__((warn_unused_result));
bool checkpoint_exists(const char *folder);
// Reads a checkpoint into a trainer that was just made with the settings of the run. On false,
// `err` has the reason: no checkpoint, a damaged one, or one with other settings or positions. Only
// the number of threads may differ; in that case the later sums are rounded differently.
bool checkpoint_read(const char *folder, Trainer *trainer, uint64_t fingerprint,
                     TrainHistory *history, Refusal *err) __attribute__((warn_unused_result));
