// The net's two file forms: written and read again without a change, and refused with a reason
// where they are damaged.
#include "tests/unit/engine/nnue_kit.h"

enum { BIAS_AT = 193, ROWS_AT = 705, DENSE_HASH_AT = 21004993, PUBLISHED_BYTES = 21022697 };
enum {
    COMPACT_BUCKETS_AT = 12,
    COMPACT_MAP_AT = 16,
    COMPACT_LENGTH_AT = 18260,
    COMPACT_ROWS_AT = 18264
};

static uint8_t *published, *compact;
static size_t published_size, compact_size;

static int make_files(void **state) {
    (void)state;
    Network net;
    CompactNet small;
    network_fill(&net, 1, &usual_scale);
    published = network_write(&net, &published_size);
    network_release(&net);
    compact_fill(&small, 2, 2, &usual_scale);
    compact = compact_write(&small, &compact_size);
    compact_release(&small);
    return 0;
}

static int free_files(void **state) {
    (void)state;
    free(published);
    free(compact);
    return 0;
}

// ---- round trips --------------------------------------------------------------------------------

static void the_published_form_is_written_as_it_was_read(void **state) {
    (void)state;
    Network net;
    Refusal err;
    size_t size;
    assert_true(network_read(&net, published, published_size, &err));
    uint8_t *again = network_write(&net, &size);
    assert_int_equal(size, published_size);
    assert_memory_equal(again, published, size);
    free(again);
    network_release(&net);
}

static void the_published_form_is_laid_out_as_documented(void **state) {
    (void)state;
    static const uint8_t head[12] = {0x16, 0x2f, 0xf3, 0x7a, 0xee, 0xa6, 0x5a, 0x3e, 177, 0, 0, 0};
    static const uint8_t features[4] = {0xb8, 0xd7, 0x69, 0x5d},
                         dense[4] = {0x56, 0x71, 0x33, 0x63};
    Network net;
    Refusal err;
    assert_int_equal(published_size, PUBLISHED_BYTES);
    assert_memory_equal(published, head, sizeof head);
    assert_memory_equal(published + 12, "Features=HalfKP(Friend)[41024->256x2],Network=", 46);
    assert_memory_equal(published + BIAS_AT - 4, features, 4);
    assert_memory_equal(published + DENSE_HASH_AT, dense, 4);
    assert_true(network_read(&net, published, published_size, &err));
    const uint8_t *row = published + ROWS_AT + 2 * NET_WIDTH * (641 * 4 + 1 + 64 * 9 + 59);
    const int16_t *values = network_row(&net, WHITE, 4, piece_make(BLACK, QUEEN), 59);
    for (int i = 0; i < NET_WIDTH; i++)
        assert_int_equal(values[i], (int16_t)(row[2 * i] | row[2 * i + 1] << 8));
    network_release(&net);
}

static void a_description_may_be_any_text(void **state) {
    (void)state;
    Network net;
    Refusal err;
    uint8_t *other = malloc(published_size);
    size_t shorter = published_size - 100;
    memcpy(other, published, 12);
    memcpy(other + 12, published + 112, published_size - 112);
    other[8] = 77;
    assert_true(network_read(&net, other, shorter, &err));
    network_release(&net);
    free(other);
}

static void check_compact_round_trip(int buckets, const NetScale *scale) {
    CompactNet net, again;
    Refusal err;
    size_t size;
    compact_fill(&net, buckets, 77 + (uint64_t)buckets, scale);
    uint8_t *bytes = compact_write(&net, &size);
    if (!compact_read(&again, bytes, size, &err))
        fail_msg("%d buckets: %s", buckets, err.message);
    assert_int_equal(again.buckets, buckets);
    assert_memory_equal(again.bucket_of, net.bucket_of, sizeof net.bucket_of);
    assert_memory_equal(again.bias, net.bias, sizeof net.bias);
    assert_memory_equal(again.rows, net.rows, (size_t)buckets * NET_FEATURES * sizeof(NetRow));
    assert_memory_equal(&again.dense, &net.dense, sizeof net.dense);
    free(bytes);
    compact_release(&net);
    compact_release(&again);
}

static void the_compact_form_keeps_every_value(void **state) {
    (void)state;
    for (int buckets = 1; buckets <= NET_BUCKETS_MAX; buckets += 3)
        check_compact_round_trip(buckets, &usual_scale);
    check_compact_round_trip(3, &extreme_scale);
    check_compact_round_trip(2, &(NetScale){0, 1, 1, 1, 1});
}

// Differences between neighbouring buckets as large as they can be, and rows that are the same.
static void rows_far_from_their_neighbours_are_kept(void **state) {
    (void)state;
    CompactNet net, again;
    Refusal err;
    size_t size;
    compact_init(&net, 4);
    for (int i = 0; i < NET_WIDTH; i++) {
        net.rows[5][i] = (int16_t)(i % 2 ? INT16_MAX : INT16_MIN);
        net.rows[5 + NET_FEATURES][i] = (int16_t)(i % 2 ? INT16_MIN : INT16_MAX);
        net.rows[5 + 2 * NET_FEATURES][i] = net.rows[5 + NET_FEATURES][i];
    }
    uint8_t *bytes = compact_write(&net, &size);
    assert_true(compact_read(&again, bytes, size, &err));
    assert_memory_equal(again.rows, net.rows, 4 * NET_FEATURES * sizeof(NetRow));
    free(bytes);
    compact_release(&net);
    compact_release(&again);
}

static void eight_buckets_of_usual_rows_fit_two_megabytes(void **state) {
    (void)state;
    CompactNet net;
    size_t size;
    compact_fill(&net, 8, 5, &(NetScale){127, 60, 60, 60, 8000});
    free(compact_write(&net, &size));
    assert_true(size < 2000000);
    compact_release(&net);
}

static void buckets_that_are_alike_take_little_more_than_one(void **state) {
    (void)state;
    CompactNet net;
    size_t one, eight;
    compact_fill(&net, 1, 9, &usual_scale);
    free(compact_write(&net, &one));
    compact_release(&net);
    compact_fill(&net, 8, 9, &usual_scale);
    for (int b = 1; b < 8; b++)
        memcpy(net.rows + b * NET_FEATURES, net.rows, NET_FEATURES * sizeof(NetRow));
    free(compact_write(&net, &eight));
    compact_release(&net);
    assert_true(eight < 3 * one);
}

// ---- refusals -----------------------------------------------------------------------------------

static bool parse(const uint8_t *bytes, size_t size, Refusal *err) {
    Network net;
    *err = (Refusal){""};
    bool fine = network_parse(&net, bytes, size, err);
    if (fine)
        network_release(&net);
    else
        assert_null(net.rows);
    return fine;
}

static void assert_refused(const uint8_t *bytes, size_t size, const char *reason) {
    Refusal err;
    assert_false(parse(bytes, size, &err));
    if (!strstr(err.message, reason))
        fail_msg("\"%s\" does not say \"%s\"", err.message, reason);
}

// One byte of a copy changed.
static void refused_with(const uint8_t *bytes, size_t size, size_t at, uint8_t value, bool seal,
                         const char *reason) {
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    assert_int_not_equal(copy[at], value);
    copy[at] = value;
    if (seal)
        compact_seal(copy, size);
    assert_refused(copy, size, reason);
    free(copy);
}

static void a_damaged_published_net_is_refused_with_the_place(void **state) {
    (void)state;
    const size_t size = published_size;
    refused_with(published, size, 0, 0x17, false,
                 "the version is 0x7AF32F17, not 0x7AF32F16, at byte 0");
    refused_with(published, size, 7, 0, false, "the hash is 0x005AA6EE");
    refused_with(published, size, 4, 0, false, "at byte 4");
    refused_with(published, size, 8, 176, false,
                 "the net ends at byte 21022696, and 1 more follow");
    refused_with(published, size, 8, 178, false,
                 "the file ends at byte 21022697, 1 bytes too early");
    refused_with(published, size, 11, 1, false, "the description has 16777393 bytes");
    refused_with(published, size, BIAS_AT - 1, 0, false, "the hash of the feature transformer");
    refused_with(published, size, BIAS_AT - 4, 0, false, "at byte 189");
    refused_with(published, size, DENSE_HASH_AT, 0, false, "the hash of the network");
    refused_with(published, size, DENSE_HASH_AT, 0, false, "at byte 21004993");
    assert_refused(published, size - 1, "1 bytes too early");
    assert_refused(published, 11, "ends at byte 11, within its header");
    assert_refused(published, 0, "ends at byte 0");
    uint8_t *longer = malloc(size + 1);
    memcpy(longer, published, size);
    longer[size] = 0;
    assert_refused(longer, size + 1, "and 1 more follow");
    free(longer);
}

static void a_damaged_compact_net_is_refused_with_the_place(void **state) {
    (void)state;
    const size_t size = compact_size;
    refused_with(compact, size, 8, 2, true, "unknown version 2 of compact nets, at byte 8");
    refused_with(compact, size, COMPACT_BUCKETS_AT, 0, true,
                 "the number of buckets is 0, not 1 to 16, at byte 12");
    refused_with(compact, size, COMPACT_BUCKETS_AT, 17, true, "buckets is 17");
    refused_with(compact, size, COMPACT_BUCKETS_AT, 1, true,
                 "bucket 1 of 1 does not exist, at byte 32");
    refused_with(compact, size, COMPACT_MAP_AT + 3, 2, true,
                 "bucket 2 of 2 does not exist, at byte 19");
    refused_with(compact, size, COMPACT_BUCKETS_AT, 3, true, "row 0 of bucket 2 is damaged");
    refused_with(compact, size, COMPACT_LENGTH_AT, (uint8_t)(compact[COMPACT_LENGTH_AT] + 1), true,
                 "by byte 18260");
    refused_with(compact, size, COMPACT_ROWS_AT, compact[COMPACT_ROWS_AT] | 1, true,
                 "row 0 of bucket 0 is damaged");
    refused_with(compact, size, size - 1, (uint8_t)~compact[size - 1], false, "the CRC-32 is");
    assert_refused(compact, size - 1, "bytes long, but should be");
    assert_refused(compact, 18000, "ends at byte 18000, within its header");
    assert_refused(compact, 8, "ends at byte 8");
}

// One more byte of rows, with length and checksum to fit.
static void rows_that_go_on_are_refused(void **state) {
    (void)state;
    uint8_t *longer = malloc(compact_size + 1);
    memcpy(longer, compact, compact_size - 4);
    longer[compact_size - 4] = 0;
    uint32_t length = (uint32_t)(compact_size + 1 - 4 - COMPACT_ROWS_AT);
    for (int i = 0; i < 4; i++)
        longer[COMPACT_LENGTH_AT + i] = (uint8_t)(length >> 8 * i);
    compact_seal(longer, compact_size + 1);
    assert_refused(longer, compact_size + 1, "the rows end before byte");
    free(longer);
}

static void no_changed_byte_of_a_compact_net_goes_unseen(void **state) {
    (void)state;
    Refusal err;
    uint8_t *copy = malloc(compact_size);
    memcpy(copy, compact, compact_size);
    for (size_t at = 0; at < compact_size; at += at < 100 ? 1 : 1009) {
        copy[at] ^= 0x10;
        assert_false(parse(copy, compact_size, &err));
        assert_true(err.message[0] != '\0');
        copy[at] ^= 0x10;
    }
    assert_true(parse(copy, compact_size, &err));
    free(copy);
}

static void no_cut_net_is_taken(void **state) {
    (void)state;
    Refusal err;
    for (size_t size = 0; size < compact_size; size += size < 100 ? 1 : 1009)
        assert_false(parse(compact, size, &err));
    for (size_t size = 0; size < published_size; size += size < 1000 ? 7 : 1000003)
        assert_false(parse(published, size, &err));
}

static void a_file_that_is_not_there_is_named(void **state) {
    (void)state;
    Network own;
    const Network *net;
    Refusal err;
    assert_false(network_choose("/no/such/net", &own, &net, &err));
    assert_string_equal(err.message, "/no/such/net: cannot open it: No such file or directory");
    assert_false(network_choose("/", &own, &net, &err));
    assert_string_equal(err.message, "/: it is not a file");
    assert_true(network_choose("none", &own, &net, &err));
    assert_null(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_form_is_written_as_it_was_read),
        cmocka_unit_test(the_published_form_is_laid_out_as_documented),
        cmocka_unit_test(a_description_may_be_any_text),
        cmocka_unit_test(the_compact_form_keeps_every_value),
        cmocka_unit_test(rows_far_from_their_neighbours_are_kept),
        cmocka_unit_test(eight_buckets_of_usual_rows_fit_two_megabytes),
        cmocka_unit_test(buckets_that_are_alike_take_little_more_than_one),
        cmocka_unit_test(a_damaged_published_net_is_refused_with_the_place),
        cmocka_unit_test(a_damaged_compact_net_is_refused_with_the_place),
        cmocka_unit_test(rows_that_go_on_are_refused),
        cmocka_unit_test(no_changed_byte_of_a_compact_net_goes_unseen),
        cmocka_unit_test(no_cut_net_is_taken),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, make_files, free_files);
}
