// Quantisation: from the net in floating point to the net that plays. Also the arithmetic of the
// quantised net, written a second time from its definition alone. The result must be equal to that
// of engine/nnue, which uses other means.
#pragma once

#include "learn/train_model.h"

// Makes a quantised net; free it with compact_release(). The weights of the first layer are
// multiplied by 127, those of the hidden layers by 64, those of the output by 9600 / 127, and the
// biases accordingly, and all are rounded. The integer net shifts right by 6 bits, which truncates;
// half a unit is added to the biases, so that the shift rounds.
void train_quantise(const Weights *running, const uint8_t bucket_of[32], CompactNet *out);

// The inverse: weights to continue training from. Each bucket takes the rows that the net has for
// its first king square, so the net may have other buckets (preferably fewer). The common part of
// all buckets goes into the shared rows.
void train_dequantise(const CompactNet *net, const uint8_t bucket_of[32], Weights *learned);

// The raw output. `*accumulator_most` is increased to the largest absolute value of an accumulator.
int32_t train_quantised(const CompactNet *net, const TrainFeatures *features,
                        int *accumulator_most);
