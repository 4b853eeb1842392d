// A stream of bits, and the Rice code on top of it.
#include "base/rice.h"

static uint32_t fold(int32_t value) {
    return value < 0 ? 2 * (uint32_t) - (value + 1) + 1 : 2 * (uint32_t)value;
}

static int32_t unfold(uint32_t folded) {
    int32_t half = (int32_t)(folded / 2);
    return folded % 2 ? -half - 1 : half;
}

void bits_put(BitWriter *writer, uint32_t value, int count) {
    writer->pending |= (uint64_t)value << writer->count;
    for (writer->count += count; writer->count >= 8; writer->count -= 8) {
        *writer->at++ = (uint8_t)writer->pending;
        writer->pending >>= 8;
    }
}

void bits_flush(BitWriter *writer) {
    if (writer->count > 0)
        bits_put(writer, 0, 8 - writer->count);
}

static void bits_fill(BitReader *reader) {
    for (; reader->count <= 56 && reader->at < reader->end; reader->count += 8)
        reader->pending |= (uint64_t)*reader->at++ << reader->count;
}

uint32_t bits_take(BitReader *reader, int count) {
    bits_fill(reader);
    if (reader->count < count) {
        reader->is_over = true;
        return 0;
    }
    uint32_t value = (uint32_t)(reader->pending & ((UINT64_C(1) << count) - 1));
    reader->pending >>= count;
    reader->count -= count;
    return value;
}

int rice_length(int32_t value, int k) {
    uint32_t ones = fold(value) >> k;
    return ones < RICE_ESCAPE ? (int)ones + 1 + k : RICE_ESCAPE + RICE_BITS;
}

void rice_put(BitWriter *writer, int32_t value, int k) {
    uint32_t folded = fold(value), ones = folded >> k;
    if (ones >= RICE_ESCAPE) {
        bits_put(writer, (1u << RICE_ESCAPE) - 1, RICE_ESCAPE);
        bits_put(writer, folded, RICE_BITS);
        return;
    }
    bits_put(writer, (1u << ones) - 1, (int)ones + 1);
    bits_put(writer, folded & ((1u << k) - 1), k);
}

int32_t rice_take(BitReader *reader, int k) {
    bits_fill(reader);
    int ones = __builtin_ctzll(~reader->pending | UINT64_C(1) << RICE_ESCAPE);
    if (ones == RICE_ESCAPE) {
        bits_take(reader, RICE_ESCAPE);
        return unfold(bits_take(reader, RICE_BITS));
    }
    bits_take(reader, ones + 1);
    return unfold((uint32_t)ones << k | bits_take(reader, k));
}
