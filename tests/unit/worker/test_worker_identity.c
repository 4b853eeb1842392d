// The identity of a worker on a server: its keys are made once, stay, and are private.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/json_member.h"
#include "server/common/str.h"
#include "tests/kit/repo_kit.h"
#include "worker/api/identity.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

enum { KILLS = 25 };

static char *folder, *path;
static const char server[] = "http://127.0.0.1:8080";

static int set_up(void **state) {
    (void)state;
    folder = kit_folder();
    path = xasprintf("%s/servers/http___127.0.0.1_8080/identity.json", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(path);
    kit_folder_drop(&folder);
    return 0;
}

typedef struct Keys {
    char machine[130], secret[SIGNING_KEY_MAX], public_key[SIGNING_KEY_MAX];
    bool known;
} Keys;

static Keys opened(void) {
    Identity identity;
    Error err;
    Keys keys;
    if (!identity_open(&identity, folder, server, json_object(), &err))
        fail_msg("%s", err.message);
    snprintf(keys.machine, sizeof keys.machine, "%s",
             member_text(identity.registration, "machine_key"));
    assert_string_equal(member_text(identity.registration, "public_key"), identity.public_key);
    memcpy(keys.secret, identity.secret, sizeof keys.secret);
    memcpy(keys.public_key, identity.public_key, sizeof keys.public_key);
    keys.known = identity.known;
    identity_close(&identity);
    return keys;
}

static void write_file(const char *text) {
    Error err;
    assert_true(file_write_durable(path, text, strlen(text), &err));
}

static void keys_are_made_once_and_stay(void **state) {
    (void)state;
    Keys first = opened(), second = opened();
    assert_false(first.known);
    assert_true(second.known);
    assert_string_equal(first.machine, second.machine);
    assert_string_equal(first.secret, second.secret);
    assert_string_equal(first.public_key, second.public_key);
}

static void no_other_user_can_read_them(void **state) {
    (void)state;
    struct stat st;
    mode_t before = umask(0);
    opened();
    umask(before);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_machine_without_its_signing_key_stays_and_gets_a_new_one(void **state) {
    (void)state;
    Keys first = opened();
    char *text scope(free_ptr) =
        xasprintf("{\"machine_key\": \"%s\", \"signing_key\": \"xyz\"}", first.machine);
    write_file(text);
    Keys second = opened(), third = opened();
    assert_true(second.known);
    assert_string_equal(second.machine, first.machine);
    assert_string_not_equal(second.secret, first.secret);
    assert_string_equal(third.secret, second.secret);
}

static void a_file_that_cannot_be_read_or_is_gone_makes_a_new_machine(void **state) {
    (void)state;
    Keys before = opened();
    static const char *const damaged[] = {"", "{\"machine_key\": \"Xq3", "[]", NULL};
    for (int i = 0; i < 4; i++) {
        if (damaged[i])
            write_file(damaged[i]);
        else
            assert_int_equal(unlink(path), 0);
        Keys now = opened();
        assert_false(now.known);
        assert_string_not_equal(now.machine, before.machine);
        assert_string_not_equal(now.secret, before.secret);
        before = now;
    }
}

// Both keys of one file, whenever its writer is killed.
static void a_worker_that_is_killed_has_both_keys_or_none(void **state) {
    (void)state;
    for (int i = 0; i < KILLS; i++) {
        Error err;
        char *text scope(free_ptr) = NULL;
        unlink(path);
        pid_t child = fork();
        if (child == 0)
            for (;;) {
                unlink(path);
                opened();
            }
        usleep((useconds_t)(1000 + 400 * i));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        if (access(path, F_OK) < 0)
            continue;
        text = file_read(path, 4096, NULL, &err);
        json_auto_t *root = text ? json_loads(text, 0, NULL) : NULL;
        assert_int_equal(strlen(member_text(root, "signing_key")), SIGNING_KEY_HEX);
        assert_true(strlen(member_text(root, "machine_key")) >= 16);
        assert_true(opened().known);
    }
}

static void a_batch_is_signed_for_the_server_that_named_itself(void **state) {
    (void)state;
    Identity identity;
    Error err;
    assert_true(identity_open(&identity, folder, server, json_object(), &err));
    assert_false(identity_set(&identity, "token", "no name", &err));
    assert_true(identity_set(&identity, "token", "0123456789abcdef0123456789abcdef", &err));
    json_auto_t *batch = json_pack("{s:i, s:{s:s}, s:s, s:i, s:n}", "seq", 3, "result", "outcomes",
                                   "2", "tc", "nodes=5", "thought", 9, "games_sha256");
    identity_sign(&identity, 42, 311, batch);
    assert_string_equal(member_text(batch, "key"), identity.public_key);
    assert_true(signature_fits(identity.public_key,
                               "patchmate batch 1\n"
                               "installation 0123456789abcdef0123456789abcdef\ntest 42\ntask 311\n"
                               "seq 3\ngames -\ntc nodes=5\nthought 9\n"
                               "result {\"outcomes\":\"2\"}\n",
                               member_text(batch, "signature")));
    identity_close(&identity);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(keys_are_made_once_and_stay),
        TEST(no_other_user_can_read_them),
        TEST(a_machine_without_its_signing_key_stays_and_gets_a_new_one),
        TEST(a_file_that_cannot_be_read_or_is_gone_makes_a_new_machine),
        TEST(a_worker_that_is_killed_has_both_keys_or_none),
        TEST(a_batch_is_signed_for_the_server_that_named_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
