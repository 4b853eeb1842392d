// Any bytes as a net, in four ways by the first byte: as they are; as the head or the rows of a
// compact file, with zeros up to its full length and a checksum that fits, so that what is behind
// it is read; laid over the published form. What is taken must be written again byte for byte.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/checksum.h"
#include "engine/nnue/nnue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    ROWS_AT = 18264,
    BITS_PER_ROW = 5 + NET_WIDTH, // when all is zero
    PUBLISHED_HEAD = 705,
    PUBLISHED_TAIL = 17704,
};

static void put_u32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void check_reason(const Refusal *err) {
    if (!err->message[0])
        abort();
}

static void try_any(const uint8_t *bytes, size_t size) {
    Network net;
    Refusal err = {""};
    if (network_parse(&net, bytes, size, &err))
        network_release(&net);
    else
        check_reason(&err);
}

// A net that was read is written and read once more: nothing may get lost.
static void check_again(const CompactNet *net) {
    CompactNet again;
    Refusal err;
    size_t size;
    uint8_t *bytes = compact_write(net, &size);
    if (!compact_read(&again, bytes, size, &err) || again.buckets != net->buckets ||
        memcmp(again.rows, net->rows, (size_t)net->buckets * NET_FEATURES * sizeof *net->rows) ||
        memcmp(&again.dense, &net->dense, sizeof net->dense))
        abort();
    free(bytes);
    compact_release(&again);
}

// The first byte says how many buckets, the second how many bytes of rows more than the least; then
// come the rows.
static void try_compact(const uint8_t *data, size_t size) {
    CompactNet net;
    Refusal err = {""};
    uint32_t buckets = size > 0 ? 1 + data[0] % 2 : 1, more = size > 1 ? data[1] : 0;
    uint32_t length = (buckets * NET_FEATURES * BITS_PER_ROW + 7) / 8 + more;
    size_t whole = ROWS_AT + length + 4, given = size > 2 ? size - 2 : 0;
    uint8_t *bytes = calloc(1, whole);
    if (!bytes)
        return;
    memcpy(bytes, "AnvilNet\1", 9);
    put_u32(bytes + 12, buckets);
    put_u32(bytes + ROWS_AT - 4, length);
    memcpy(bytes + ROWS_AT, data + (given ? 2 : 0), given < length ? given : length);
    put_u32(bytes + whole - 4, checksum_crc32(0, bytes, whole - 4));
    if (compact_read(&net, bytes, whole, &err)) {
        check_again(&net);
        compact_release(&net);
    } else {
        check_reason(&err);
    }
    free(bytes);
}

static void try_compact_head(const uint8_t *data, size_t size) {
    static uint8_t bytes[ROWS_AT + 4];
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "AnvilNet", 8);
    memcpy(bytes + 8, data, size < ROWS_AT - 12 ? size : ROWS_AT - 12);
    put_u32(bytes + ROWS_AT, checksum_crc32(0, bytes, ROWS_AT));
    try_any(bytes, sizeof bytes);
}

// Head and end of a published file are overwritten from both halves of the data, for one run.
static void try_published(const uint8_t *data, size_t size) {
    static uint8_t *bytes;
    static size_t whole;
    if (!bytes) {
        CompactNet nothing;
        Network net;
        compact_init(&nothing, 1);
        compact_expand(&nothing, &net);
        bytes = network_write(&net, &whole);
        network_release(&net);
        compact_release(&nothing);
    }
    uint8_t head[PUBLISHED_HEAD], tail[PUBLISHED_TAIL];
    memcpy(head, bytes, sizeof head);
    memcpy(tail, bytes + whole - sizeof tail, sizeof tail);
    size_t front = size / 2 < sizeof head ? size / 2 : sizeof head;
    size_t back = size - front < sizeof tail ? size - front : sizeof tail;
    memcpy(bytes, data, front);
    memcpy(bytes + whole - back, data + front, back);
    try_any(bytes, whole);
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + whole - sizeof tail, tail, sizeof tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    if (data[0] == 'c')
        try_compact(data + 1, size - 1);
    else if (data[0] == 'h')
        try_compact_head(data + 1, size - 1);
    else if (data[0] == 'p')
        try_published(data + 1, size - 1);
    else
        try_any(data, size);
    return 0;
}
