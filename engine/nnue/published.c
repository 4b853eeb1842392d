// The published form of HalfKP 256x2-32-32, as Stockfish 12 and 13 read and write it, byte for
// byte:
//
//   u32 version   u32 hash   u32 length   description of that length
//   u32 hash of the feature transformer   int16 bias[256]   int16 rows[41024][256]
//   u32 hash of the network               the dense layers (bytes.h)
//
// The hashes depend on the kinds and sizes of the layers, not on their weights. The hash of the
// feature transformer is 0x5D69D5B9 ^ 1, ^ 512 with the width. The hash of the network is computed
// layer by layer: 0xEC42E90D ^ 512 for the input; 0xCC03DAE4 + outputs, ^ previous >> 1,
// ^ previous << 31 for an affine layer; 0x538D24C7 + previous for a clipped ReLU. The hash of the
// file is the XOR of these two.
#include "nnue/bytes.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t PUBLISHED_VERSION = 0x7AF32F16, HASH = 0x3E5AA6EE;
static const uint32_t HASH_FEATURES = 0x5D69D7B8, HASH_DENSE = 0x63337156;
static const char DESCRIPTION[] =
    "Features=HalfKP(Friend)[41024->256x2],Network=AffineTransform[1<-32](ClippedReLU[32]("
    "AffineTransform[32<-32](ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))";

enum {
    HEAD_BYTES = 12,
    DESCRIPTION_MAX = 4096,
    BODY_BYTES = 4 + NET_BIAS_BYTES + NET_ROWS * 2 * NET_WIDTH + 4 + NET_DENSE_BYTES,
};

static bool expect(NetReader *reader, const char *what, uint32_t wanted, Refusal *err) {
    size_t offset = reader_offset(reader);
    uint32_t found = read_u32(reader);
    return found == wanted ||
           refused(err, "%s is 0x%08X, not 0x%08X, at byte %zu", what, found, wanted, offset);
}

// Checks everything before the rows: that the file has this form and the right size.
static bool read_head(NetReader *reader, Refusal *err) {
    size_t size = reader_left(reader);
    if (size < HEAD_BYTES)
        return refused(err, "the file ends at byte %zu, within its header", size);
    if (!expect(reader, "the version", PUBLISHED_VERSION, err) ||
        !expect(reader, "the hash", HASH, err))
        return false;
    uint32_t length = read_u32(reader);
    if (length > DESCRIPTION_MAX)
        return refused(err, "the description has %u bytes, more than %d, at byte 8", length,
                       DESCRIPTION_MAX);
    size_t whole = HEAD_BYTES + length + (size_t)BODY_BYTES;
    if (size < whole)
        return refused(err, "the file ends at byte %zu, %zu bytes too early", size, whole - size);
    if (size > whole)
        return refused(err, "the net ends at byte %zu, and %zu more follow", whole, size - whole);
    reader->at += length;
    return expect(reader, "the hash of the feature transformer", HASH_FEATURES, err);
}

bool network_read(Network *net, const void *bytes, size_t size, Refusal *err) {
    NetReader reader = {bytes, bytes, (const uint8_t *)bytes + size};
    *net = (Network){0};
    if (!read_head(&reader, err))
        return false;
    NetReader behind = reader; // checks the data after the rows before the rows are copied
    behind.at = reader.end - NET_DENSE_BYTES - 4;
    if (!expect(&behind, "the hash of the network", HASH_DENSE, err))
        return false;
    net->row_count = NET_ROWS;
    net->rows = net_allocate(NET_ROWS * sizeof *net->rows);
    read_i16s(&reader, net->bias, NET_WIDTH);
    read_i16s(&reader, (int16_t *)net->rows, (size_t)NET_ROWS * NET_WIDTH);
    read_dense(&behind, &net->dense);
    for (uint32_t king = 0; king < 64; king++)
        net->row_base[king] = king * (NET_FEATURES + 1) + 1;
    network_pack(net);
    return true;
}

// Writes the rows of one king square in the order of the file: the unused row, then feature by
// feature.
static uint8_t *write_rows(uint8_t *at, const Network *net, uint32_t king) {
    static const NetRow nothing;
    bool is_whole = net->row_count == NET_ROWS;
    at = write_i16s(at, is_whole ? net->rows[net->row_base[king] - 1] : nothing, NET_WIDTH);
    for (uint32_t feature = 0; feature < NET_FEATURES; feature++)
        at = write_i16s(at, net->rows[net->row_base[king] + (feature ^ net->row_flip[king])],
                        NET_WIDTH);
    return at;
}

uint8_t *network_write(const Network *net, size_t *size) {
    const uint32_t length = sizeof DESCRIPTION - 1;
    *size = HEAD_BYTES + length + (size_t)BODY_BYTES;
    uint8_t *bytes = net_allocate(*size);
    uint8_t *at = write_u32(bytes, PUBLISHED_VERSION);
    at = write_u32(at, HASH);
    at = write_u32(at, length);
    memcpy(at, DESCRIPTION, length);
    at = write_u32(at + length, HASH_FEATURES);
    at = write_i16s(at, net->bias, NET_WIDTH);
    for (uint32_t king = 0; king < 64; king++)
        at = write_rows(at, net, king);
    at = write_u32(at, HASH_DENSE);
    write_dense(at, &net->dense);
    return bytes;
}
