// The compact form, in which nets are stored and distributed. Little-endian:
//
//     0  "AnvilNet"
//     8  u32 version, 1
//    12  u32 B, the number of buckets
//    16  u8 bucket_of[32]
//    48  int16 bias[256]
//   560  the dense layers (bytes.h)
//  18260  u32 L, the length of the rows
//  18264  B * 640 rows. A row has one bit, which is 1 if the values are differences from the same
//         feature's row of the bucket before; four bits, k; and 256 values in the Rice code of
//         that k (rice.h). Zero bits fill the last byte.
// 18264+L u32 CRC-32 of everything before
#include "base/checksum.h"
#include "base/rice.h"
#include "nnue/bytes.h"

#include <limits.h>
#include <string.h>

static const char COMPACT_MAGIC[8] = {'A', 'n', 'v', 'i', 'l', 'N', 'e', 't'};

enum {
    COMPACT_VERSION = 1,
    BUCKETS_AT = 12,
    ROWS_AT = 16 + 32 + NET_BIAS_BYTES + NET_DENSE_BYTES + 4,
    K_BITS = 4,
    ROW_BITS_MAX = 1 + K_BITS + NET_WIDTH * (RICE_ESCAPE + RICE_BITS),
};

bool compact_is(const void *bytes, size_t size) {
    return size >= sizeof COMPACT_MAGIC && memcmp(bytes, COMPACT_MAGIC, sizeof COMPACT_MAGIC) == 0;
}

void compact_init(CompactNet *compact, int buckets) {
    *compact = (CompactNet){.buckets = buckets};
    compact->rows = net_allocate((size_t)buckets * NET_FEATURES * sizeof(NetRow));
}

// ---- reading -----------------------------------------------------------------------------------

// Checks everything but the values.
static bool check_frame(NetReader *reader, Refusal *err) {
    size_t size = reader_left(reader);
    if (!compact_is(reader->at, size))
        return refused(err, "not a compact net: it does not begin with AnvilNet");
    if (size < ROWS_AT + 4)
        return refused(err, "the file ends at byte %zu, within its header", size);
    reader->at = reader->begin + ROWS_AT - 4;
    size_t whole = (size_t)ROWS_AT + read_u32(reader) + 4;
    if (size != whole)
        return refused(err, "the file is %zu bytes long, but should be %zu by byte %d", size, whole,
                       ROWS_AT - 4);
    reader->at = reader->end - 4;
    uint32_t said = read_u32(reader);
    uint32_t found = checksum_crc32(0, reader->begin, size - 4);
    if (said != found)
        return refused(err, "the CRC-32 is %08x, but the file has %08x at byte %zu", found, said,
                       size - 4);
    return true;
}

static bool read_header(NetReader *reader, CompactNet *compact, Refusal *err) {
    reader->at = reader->begin + sizeof COMPACT_MAGIC;
    uint32_t version = read_u32(reader), buckets = read_u32(reader);
    if (version != COMPACT_VERSION)
        return refused(err, "unknown version %u of compact nets, at byte 8", version);
    if (buckets < 1 || buckets > NET_BUCKETS_MAX)
        return refused(err, "the number of buckets is %u, not 1 to %d, at byte %d", buckets,
                       NET_BUCKETS_MAX, BUCKETS_AT);
    for (size_t i = 0; i < sizeof compact->bucket_of; i++)
        if (reader->at[i] >= buckets)
            return refused(err, "bucket %d of %u does not exist, at byte %zu", reader->at[i],
                           buckets, reader_offset(reader) + i);
    compact_init(compact, (int)buckets);
    memcpy(compact->bucket_of, reader->at, sizeof compact->bucket_of);
    reader->at += sizeof compact->bucket_of;
    read_i16s(reader, compact->bias, NET_WIDTH);
    read_dense(reader, &compact->dense);
    return true;
}

// `before` is NULL in the first bucket.
static bool read_row(BitReader *bits, const int16_t *before, int16_t *row) {
    static const NetRow nothing;
    bool is_difference = bits_take(bits, 1);
    int k = (int)bits_take(bits, K_BITS);
    if (is_difference && !before)
        return false;
    const int16_t *from = is_difference ? before : nothing;
    for (int i = 0; i < NET_WIDTH; i++) {
        int32_t value = from[i] + rice_take(bits, k);
        if (value < INT16_MIN || value > INT16_MAX)
            return false;
        row[i] = (int16_t)value;
    }
    return !bits->is_over;
}

static bool read_rows(NetReader *reader, CompactNet *compact, Refusal *err) {
    BitReader bits = {.at = reader->begin + ROWS_AT, .end = reader->end - 4};
    for (int r = 0; r < compact->buckets * NET_FEATURES; r++) {
        const int16_t *before = r < NET_FEATURES ? NULL : compact->rows[r - NET_FEATURES];
        if (!read_row(&bits, before, compact->rows[r]))
            return refused(err, "row %d of bucket %d is damaged, before byte %td", r % NET_FEATURES,
                           r / NET_FEATURES, bits.at - reader->begin);
    }
    // Some bytes were not read, or a bit is set in the padding of the last byte.
    if (bits.at != bits.end || bits.count >= 8 || bits.pending != 0)
        return refused(err, "the rows end before byte %td, but the file does not",
                       bits.at - bits.count / 8 - reader->begin);
    return true;
}

bool compact_read(CompactNet *compact, const void *bytes, size_t size, Refusal *err) {
    NetReader reader = {bytes, bytes, (const uint8_t *)bytes + size};
    *compact = (CompactNet){0};
    if (!check_frame(&reader, err) || !read_header(&reader, compact, err))
        return false;
    if (read_rows(&reader, compact, err))
        return true;
    compact_release(compact);
    return false;
}

// ---- writing -----------------------------------------------------------------------------------

// Value `i` of a row as it is stored: the value itself, or its difference from `before`.
static int32_t row_value(const int16_t *row, const int16_t *before, int i) {
    return row[i] - (before ? before[i] : 0);
}

static int best_k(const int16_t *row, const int16_t *before, int *bits) {
    int best = 0;
    *bits = INT_MAX;
    for (int k = 0; k <= RICE_K_MAX; k++) {
        int length = 0;
        for (int i = 0; i < NET_WIDTH; i++)
            length += rice_length(row_value(row, before, i), k);
        if (length < *bits) {
            best = k;
            *bits = length;
        }
    }
    return best;
}

static void write_row(BitWriter *writer, const int16_t *row, const int16_t *before) {
    int plain_bits, difference_bits;
    int k = best_k(row, NULL, &plain_bits);
    if (before) {
        int difference_k = best_k(row, before, &difference_bits);
        if (difference_bits < plain_bits)
            k = difference_k;
        else
            before = NULL;
    }
    bits_put(writer, before != NULL, 1);
    bits_put(writer, (uint32_t)k, K_BITS);
    for (int i = 0; i < NET_WIDTH; i++)
        rice_put(writer, row_value(row, before, i), k);
}

uint8_t *compact_write(const CompactNet *compact, size_t *size) {
    int rows = compact->buckets * NET_FEATURES;
    uint8_t *bytes = net_allocate((size_t)ROWS_AT + (size_t)rows * ROW_BITS_MAX / 8 + 8);
    memcpy(bytes, COMPACT_MAGIC, sizeof COMPACT_MAGIC);
    uint8_t *at = write_u32(bytes + sizeof COMPACT_MAGIC, COMPACT_VERSION);
    at = write_u32(at, (uint32_t)compact->buckets);
    memcpy(at, compact->bucket_of, sizeof compact->bucket_of);
    at = write_i16s(at + sizeof compact->bucket_of, compact->bias, NET_WIDTH);
    at = write_dense(at, &compact->dense);
    BitWriter writer = {.at = bytes + ROWS_AT};
    for (int r = 0; r < rows; r++)
        write_row(&writer, compact->rows[r],
                  r < NET_FEATURES ? NULL : compact->rows[r - NET_FEATURES]);
    bits_flush(&writer);
    write_u32(at, (uint32_t)(writer.at - bytes - ROWS_AT));
    at = write_u32(writer.at, checksum_crc32(0, bytes, (size_t)(writer.at - bytes)));
    *size = (size_t)(at - bytes);
    return bytes;
}

// ---- use ---------------------------------------------------------------------------------------

void compact_expand(const CompactNet *compact, Network *net) {
    *net = (Network){.row_count = (uint32_t)(compact->buckets * NET_FEATURES)};
    net->rows = net_allocate(net->row_count * sizeof *net->rows);
    memcpy(net->rows, compact->rows, net->row_count * sizeof *net->rows);
    memcpy(net->bias, compact->bias, sizeof net->bias);
    net->dense = compact->dense;
    for (Square king = 0; king < 64; king++) {
        net->row_base[king] = (uint32_t)(compact_bucket(compact, king) * NET_FEATURES);
        net->row_flip[king] = (uint8_t)compact_flip(king);
    }
    network_pack(net);
}
