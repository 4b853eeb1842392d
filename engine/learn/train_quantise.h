// Quantisation: makes the integer net that plays from the net in floating point. Also a second,
// simple implementation of the arithmetic of the quantised net. Its results must be equal to those
// of engine/nnue.
#pragma once

#include "learn/train_model.h"

// Makes a quantised net; free it with compact_release(). The weights of the first layer are
// multiplied by 127, those of the hidden layers by 64, those of the output by 9600 / 127, and the
// biases accordingly, and all are rounded. The integer net shifts right by 6 bits, which truncates;
// half a unit is added to the biases, so that the shift rounds.
void train_quantise(const Weights *running, const uint8_t bucket_of[32], CompactNet *out);

// The inverse: weights from which training can continue. Each bucket gets the rows that the net has
// for the bucket's first king square, so the net may have other buckets (preferably fewer). The
// common part of all buckets becomes the shared rows.
void train_dequantise(const CompactNet *net, const uint8_t bucket_of[32], Weights *learned);

// The raw output. `*accumulator_most` is increased to the largest absolute value of an accumulator.
int32_t train_quantised(const CompactNet *net, const TrainFeatures *features,
                        int *accumulator_most);
