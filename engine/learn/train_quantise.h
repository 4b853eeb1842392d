// Quantisation: from the net in floating point to the net that plays. Also the arithmetic of the
// quantised net, written a second time from its definition alone. The result must be equal to that
// of engine/nnue, which uses other means.
#pragma once

#include "learn/train_model.h"

// New: compact_release it. Weights of the first layer times 127, of the hidden ones times 64, of
// the output times 9600 / 127, biases to match; rounded. Where the integer net shifts by 6 bits it
// drops the rest; half a unit is put into the biases before, so that it rounds.
void train_quantise(const Weights *running, const uint8_t bucket_of[32], CompactNet *out);

// The other way round: into weights to learn from. Each bucket takes the rows that the net has for
// its first king square, so that the net may have other buckets, best fewer. What all buckets have
// in common goes into the shared rows.
void train_dequantise(const CompactNet *net, const uint8_t bucket_of[32], Weights *learned);

// Raw output. `*accumulator_most` rises to the largest absolute value in an accumulator.
int32_t train_quantised(const CompactNet *net, const TrainFeatures *features,
                        int *accumulator_most);
