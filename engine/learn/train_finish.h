// The end of a training run: it quantises the net, writes it, and compares it with the engine.
#pragma once

#include "learn/train.h"

// How many of the probes the trainer's arithmetic and the engine's value alike.
int train_agreement(const CompactNet *compact, const Network *net, const TrainSet *set);

// Writes FOLDER/net.compact, the same under its SHA-256, FOLDER/net with that name as its one line,
// and FOLDER/net.nnue in the published form; says on standard output what was written, the losses
// of the quantised net, the largest accumulator, and how many probes agree. False, with a reason: a
// file that cannot be written, or one probe that differs.
bool train_finish(Trainer *trainer, const TrainSet *set, const char *folder, Refusal *err)
    __attribute__((warn_unused_result));
