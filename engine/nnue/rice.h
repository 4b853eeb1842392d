// Numbers in few bits (Rice, "Some practical universal noiseless coding techniques", 1979): small
// ones are short. A number is folded (0, -1, 1, -2, … become 0, 1, 2, 3, …), the folded one's bits
// above the lowest `k` are written as so many ones and a zero, then the lowest k. From ESCAPE ones
// on there is no zero, and all bits follow. Inner part of the net.
#pragma once

#include "nnue/nnue.h"

enum {
    RICE_K_MAX = 15,
    RICE_ESCAPE = 20,
    RICE_BITS = 17, // of a folded number: differences of int16
};

// Bits fill a byte from its lowest on.
typedef struct BitWriter {
    uint8_t *at; // where the next byte goes; room is the caller's care
    uint64_t pending;
    int count; // of bits pending, less than 8 between calls
} BitWriter;

typedef struct BitReader {
    const uint8_t *at, *end;
    uint64_t pending;
    int count;
    bool is_over; // more was asked for than there was
} BitReader;

void bits_put(BitWriter *writer, uint32_t value, int count); // of at most 32 bits
void bits_flush(BitWriter *writer);                          // the last byte's rest is zeros
uint32_t bits_take(BitReader *reader, int count);            // of at most 32 bits; 0 behind the end

int rice_length(int32_t value, int k); // in bits
void rice_put(BitWriter *writer, int32_t value, int k);
int32_t rice_take(BitReader *reader, int k);
