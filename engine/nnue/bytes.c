// Converts bytes to numbers and back, independently of the byte order of the machine.
#include "nnue/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOUNDARY = 64 }; // a cache line

void *net_allocate(size_t size) {
    size_t whole = (size + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
    void *memory = aligned_alloc(BOUNDARY, whole);
    if (!memory) {
        fputs("anvil: out of memory for a net\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memset(memory, 0, whole);
}

// ---- reading -----------------------------------------------------------------------------------

uint32_t read_u32(NetReader *reader) {
    const uint8_t *at = reader->at;
    reader->at += 4;
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void read_i8s(NetReader *reader, int8_t *out, size_t count) {
    memcpy(out, reader->at, count);
    reader->at += count;
}

void read_i16s(NetReader *reader, int16_t *out, size_t count) {
    const uint8_t *at = reader->at;
    for (size_t i = 0; i < count; i++)
        out[i] = (int16_t)(uint16_t)(at[2 * i] | at[2 * i + 1] << 8);
    reader->at += 2 * count;
}

void read_i32s(NetReader *reader, int32_t *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = (int32_t)read_u32(reader);
}

void read_dense(NetReader *reader, NetDense *dense) {
    read_i32s(reader, dense->b1, NET_HIDDEN);
    read_i8s(reader, (int8_t *)dense->w1, sizeof dense->w1);
    read_i32s(reader, dense->b2, NET_HIDDEN);
    read_i8s(reader, (int8_t *)dense->w2, sizeof dense->w2);
    read_i32s(reader, &dense->b3, 1);
    read_i8s(reader, dense->w3, sizeof dense->w3);
}

// ---- writing -----------------------------------------------------------------------------------

uint8_t *write_u32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        *at++ = (uint8_t)(value >> 8 * i);
    return at;
}

uint8_t *write_i8s(uint8_t *at, const int8_t *values, size_t count) {
    memcpy(at, values, count);
    return at + count;
}

uint8_t *write_i16s(uint8_t *at, const int16_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        at[2 * i] = (uint8_t)values[i];
        at[2 * i + 1] = (uint8_t)((uint16_t)values[i] >> 8);
    }
    return at + 2 * count;
}

uint8_t *write_i32s(uint8_t *at, const int32_t *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        at = write_u32(at, (uint32_t)values[i]);
    return at;
}

uint8_t *write_dense(uint8_t *at, const NetDense *dense) {
    at = write_i32s(at, dense->b1, NET_HIDDEN);
    at = write_i8s(at, (const int8_t *)dense->w1, sizeof dense->w1);
    at = write_i32s(at, dense->b2, NET_HIDDEN);
    at = write_i8s(at, (const int8_t *)dense->w2, sizeof dense->w2);
    at = write_i32s(at, &dense->b3, 1);
    return write_i8s(at, dense->w3, sizeof dense->w3);
}
