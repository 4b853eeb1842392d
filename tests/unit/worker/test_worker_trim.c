// The cache: what goes first, what stays, what two workers of one cache do to each other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "worker/cache/trim.h"

enum { KIB = 1024 };

static int open_store(void **state) {
    Error err;
    static Store store;
    char folder[] = "/tmp/patchmate-trim-XXXXXX";
    if (!mkdtemp(folder) || !store_open(&store, folder, &err))
        return -1;
    *state = &store;
    return 0;
}

static int close_store(void **state) {
    Error err;
    Store *store = *state;
    char *root = xstrdup(store->root);
    store_close(store);
    bool gone = folder_remove(root, &err);
    free(root);
    return gone ? 0 : -1;
}

static void write_file(const char *path, int kib) {
    Error err;
    char *bytes scope(free_ptr) = xmalloc((size_t)kib * KIB);
    memset(bytes, 'x', (size_t)kib * KIB);
    assert_true(file_write_durable(path, bytes, (size_t)kib * KIB, &err));
}

static void set_age(const char *path, int seconds) {
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    times[0] = times[1] = now;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

// Blobs are named by one hexadecimal digit, repeated.
static char *blob_path(const Store *store, char digit) {
    char name[65];
    memset(name, digit, 64);
    name[64] = 0;
    return store_blob(store, name);
}

static void add_blob(const Store *store, char digit, int kib, int age_s) {
    char *path scope(free_ptr) = blob_path(store, digit);
    write_file(path, kib);
    set_age(path, age_s);
}

static void add_build(const Store *store, const char *key, int kib, int age_s) {
    Error err;
    char *folder scope(free_ptr) = store_build(store, key);
    char *binary scope(free_ptr) = xasprintf("%s/engine", folder);
    assert_true(folder_make(folder, &err));
    write_file(binary, kib);
    set_age(folder, age_s);
}

static bool has_blob(const Store *store, char digit) {
    char *path scope(free_ptr) = blob_path(store, digit);
    return access(path, F_OK) == 0;
}

static bool has_build(const Store *store, const char *key) {
    char *path scope(free_ptr) = store_build(store, key);
    return access(path, F_OK) == 0;
}

static void what_was_used_longest_ago_goes_first(void **state) {
    const Store *store = *state;
    Trim trim;
    add_blob(store, 'a', 400, 400);
    add_build(store, "old", 400, 300);
    add_blob(store, 'b', 400, 200);
    add_build(store, "new", 400, 100);
    assert_true(trim_store(store, 1000 * KIB, 0, &trim));
    assert_int_equal(trim.removed, 2);
    assert_true(trim.bytes <= 1000 * KIB && trim.bytes >= 800 * KIB);
    assert_false(has_blob(store, 'a'));
    assert_false(has_build(store, "old"));
    assert_true(has_blob(store, 'b') && has_build(store, "new"));
}

// Its net lies in folders of its own below it.
static void the_files_laid_down_for_a_build_count(void **state) {
    Error err;
    const Store *store = *state;
    Trim trim;
    add_build(store, "with-net", 100, 200);
    char *nets scope(free_ptr) = xasprintf("%s/builds/with-net/tree/nets", store->root);
    char *net scope(free_ptr) = xasprintf("%s/small", nets);
    assert_true(folder_make(nets, &err));
    write_file(net, 800);
    char *folder scope(free_ptr) = store_build(store, "with-net");
    set_age(folder, 200);
    add_build(store, "plain", 400, 100);
    assert_true(trim_store(store, 1000 * KIB, 0, &trim));
    assert_int_equal(trim.removed, 1);
    assert_true(trim.removed_bytes >= 900 * KIB);
    assert_false(has_build(store, "with-net"));
    assert_true(has_build(store, "plain"));
}

static void a_cache_within_its_size_is_left_alone(void **state) {
    const Store *store = *state;
    Trim trim;
    add_blob(store, 'a', 100, 1000000);
    assert_true(trim_store(store, 1000 * KIB, 0, &trim));
    assert_int_equal(trim.removed, 0);
    assert_true(has_blob(store, 'a'));
}

static void use_makes_young(void **state) {
    const Store *store = *state;
    Trim trim;
    add_blob(store, 'a', 400, 400);
    add_blob(store, 'b', 400, 200);
    char *path scope(free_ptr) = blob_path(store, 'a');
    assert_true(store_hold(store, path));
    store_let_go(store);
    assert_true(trim_store(store, 500 * KIB, 0, &trim));
    assert_true(has_blob(store, 'a') && !has_blob(store, 'b'));
}

static void what_another_worker_uses_stays_until_it_lets_go(void **state) {
    const Store *store = *state;
    Store other;
    Error err;
    Trim trim;
    assert_true(store_open(&other, store->root, &err));
    assert_int_equal(other.number, 2);
    add_blob(store, 'a', 400, 400);
    add_build(store, "old", 400, 300);
    add_blob(store, 'b', 400, 200);
    char *blob scope(free_ptr) = blob_path(store, 'a'),
               *build scope(free_ptr) = store_build(store, "old");
    assert_true(store_hold(&other, blob) && store_hold(&other, build));
    assert_false(trim_store(store, 0, 0, &trim));
    assert_int_equal(trim.removed, 1);
    assert_string_equal(trim.error.message, "");
    assert_true(has_blob(store, 'a') && has_build(store, "old") && !has_blob(store, 'b'));
    store_let_go(&other);
    assert_true(trim_store(store, 0, 0, &trim));
    assert_false(has_blob(store, 'a') || has_build(store, "old"));
    store_close(&other);
}

static void what_is_gone_cannot_be_held(void **state) {
    const Store *store = *state;
    char *path scope(free_ptr) = blob_path(store, 'c');
    assert_false(store_hold(store, path));
}

static void room_on_the_disk_is_made_too(void **state) {
    const Store *store = *state;
    Trim trim;
    add_blob(store, 'a', 400, 400);
    assert_true(trim_store(store, INT64_MAX, 1, &trim));
    assert_true(has_blob(store, 'a'));
    assert_false(trim_store(store, INT64_MAX, INT64_MAX, &trim)); // no disk has so much
    assert_false(has_blob(store, 'a'));
    assert_true(trim.free >= 0);
}

static void identity_and_results_are_not_touched(void **state) {
    const Store *store = *state;
    Error err;
    Trim trim;
    char *spool scope(free_ptr) = xasprintf("%s/servers/x/spool", store->instance);
    char *file scope(free_ptr) = xasprintf("%s/1-0.json", spool);
    assert_true(folder_make(spool, &err));
    write_file(file, 64);
    set_age(file, 1000000);
    assert_true(trim_store(store, 0, 0, &trim));
    assert_int_equal(access(file, F_OK), 0);
}

int main(void) {
#define TEST(test) cmocka_unit_test_setup_teardown(test, open_store, close_store)
    const struct CMUnitTest tests[] = {
        TEST(what_was_used_longest_ago_goes_first),
        TEST(the_files_laid_down_for_a_build_count),
        TEST(a_cache_within_its_size_is_left_alone),
        TEST(use_makes_young),
        TEST(what_another_worker_uses_stays_until_it_lets_go),
        TEST(what_is_gone_cannot_be_held),
        TEST(room_on_the_disk_is_made_too),
        TEST(identity_and_results_are_not_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
