// The end of a training run: it quantises the net, writes it, and compares it with the engine.
#pragma once

#include "learn/train.h"

// The number of probes for which the trainer's arithmetic and the engine's give the same value.
int train_agreement(const CompactNet *compact, const Network *net, const TrainSet *set);

// Writes FOLDER/net.compact, the same file under its SHA-256, FOLDER/net with that name as its only
// line, and FOLDER/net.nnue in the published form. Prints the file names, the losses of the
// quantised net, the largest accumulator value, and how many probes agree. False, with a reason, if
// a file cannot be written or a probe differs.
bool train_finish(Trainer *trainer, const TrainSet *set, const char *folder, Refusal *err)
    __attribute__((warn_unused_result));
