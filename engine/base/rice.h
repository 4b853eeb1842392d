// Rice codes, which store small numbers in few bits (Rice, "Some practical universal noiseless
// coding techniques", 1979). First the number is folded: 0, -1, 1, -2, … become 0, 1, 2, 3, …. Let
// q be the folded number without its lowest `k` bits. The code is q ones, a zero, and the lowest k
// bits. If q is RICE_ESCAPE or more, the code is RICE_ESCAPE ones without a zero, then all bits of
// the number. Nets are stored so; books of walks use the bits alone.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    RICE_K_MAX = 15,
    RICE_ESCAPE = 20,
    RICE_BITS = 17, // of a folded number: differences of int16
};

// Bits fill each byte from the lowest bit on.
typedef struct BitWriter {
    uint8_t *at; // where the next byte goes; the caller provides the room
    uint64_t pending;
    int count; // of bits pending, less than 8 between calls
} BitWriter;

typedef struct BitReader {
    const uint8_t *at, *end;
    uint64_t pending;
    int count;
    bool is_over; // more bits were asked for than there are
} BitReader;

void bits_put(BitWriter *writer, uint32_t value, int count); // of at most 32 bits
void bits_flush(BitWriter *writer);                          // the last byte's rest is zeros
uint32_t bits_take(BitReader *reader, int count);            // of at most 32 bits; 0 behind the end

int rice_length(int32_t value, int k); // in bits
void rice_put(BitWriter *writer, int32_t value, int k);
int32_t rice_take(BitReader *reader, int k);
