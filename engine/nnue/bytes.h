// Reads and writes the little-endian numbers of the net's files, and the dense layers, which are
// the same in both file forms. Internal to the net. The reader does not check for the end of the
// data: the caller has checked the size before.
#pragma once

#include "nnue/nnue.h"

typedef struct NetReader {
    const uint8_t *begin, *at, *end;
} NetReader;

// `size` zeroed bytes on a boundary of 64; out of memory ends the process.
void *net_allocate(size_t size);

// True if the bytes begin like a compact net.
bool compact_is(const void *bytes, size_t size);

static inline size_t reader_offset(const NetReader *reader) {
    return (size_t)(reader->at - reader->begin);
}
static inline size_t reader_left(const NetReader *reader) {
    return (size_t)(reader->end - reader->at);
}
uint32_t read_u32(NetReader *reader);
void read_i8s(NetReader *reader, int8_t *out, size_t count);
void read_i16s(NetReader *reader, int16_t *out, size_t count);
void read_i32s(NetReader *reader, int32_t *out, size_t count);

// Each function returns the address after the bytes that it wrote.
uint8_t *write_u32(uint8_t *at, uint32_t value);
uint8_t *write_i8s(uint8_t *at, const int8_t *values, size_t count);
uint8_t *write_i16s(uint8_t *at, const int16_t *values, size_t count);
uint8_t *write_i32s(uint8_t *at, const int32_t *values, size_t count);

// int32 b1[32] int8 w1[32][512] int32 b2[32] int8 w2[32][32] int32 b3 int8 w3[32]
enum {
    NET_DENSE_BYTES = 4 * NET_HIDDEN + NET_HIDDEN * NET_INPUTS + 4 * NET_HIDDEN +
                      NET_HIDDEN * NET_HIDDEN + 4 + NET_HIDDEN,
    NET_BIAS_BYTES = 2 * NET_WIDTH,
};
void read_dense(NetReader *reader, NetDense *dense);
uint8_t *write_dense(uint8_t *at, const NetDense *dense);
