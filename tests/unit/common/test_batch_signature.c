// The signature of a batch: the algorithm is that of RFC 8032, the text is that of API.md, and each
// fact of a batch is in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/batch_signature.h"
#include "server/common/json_member.h"
#include "server/common/str.h"
#include "tests/kit/worker_kit.h"

#define TEST(name) cmocka_unit_test(name)

// RFC 8032, 7.1, test 1: the signature of the empty text.
static const char secret[] = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                  public_of_it[] =
                      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                  of_nothing[] =
                      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a3"
                      "3bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";

static void keys_and_signatures_are_those_of_rfc_8032(void **state) {
    (void)state;
    char public_key[SIGNING_KEY_MAX], signature[SIGNATURE_MAX];
    assert_true(signing_key_public(secret, public_key));
    assert_string_equal(public_key, public_of_it);
    assert_true(signature_make(secret, "", signature));
    assert_string_equal(signature, of_nothing);
    assert_true(signature_fits(public_of_it, "", of_nothing));
    assert_false(signature_fits(public_of_it, "x", of_nothing));
}

static void new_keys_differ_and_sign(void **state) {
    (void)state;
    char one[SIGNING_KEY_MAX], other[SIGNING_KEY_MAX], public_key[SIGNING_KEY_MAX],
        signature[SIGNATURE_MAX];
    signing_key_make(one);
    signing_key_make(other);
    assert_string_not_equal(one, other);
    assert_true(signature_make(one, "text", signature));
    assert_true(signing_key_public(one, public_key));
    assert_true(signature_fits(public_key, "text", signature));
    assert_true(signing_key_public(other, public_key));
    assert_false(signature_fits(public_key, "text", signature));
}

static void other_forms_are_no_keys_and_no_signatures(void **state) {
    (void)state;
    char public_key[SIGNING_KEY_MAX], signature[SIGNATURE_MAX];
    static const char *const bad[] = {
        "", "9d61", "9D61B19DEFFD5A60BA844AF492EC2CC44449C5697B326919703BAC031CAE7F60",
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f6000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(signing_key_public(bad[i], public_key));
        assert_false(signature_make(bad[i], "", signature));
        assert_false(signature_fits(bad[i], "", of_nothing));
        assert_false(signature_fits(public_of_it, "", bad[i]));
    }
}

// The batch of API.md, of the task and the test that its text names.
static SignedBatch example_batch(const json_t *body, const json_t *reply) {
    return (SignedBatch){.installation = member_text(reply, "installation"),
                         .test = 42,
                         .task = 311,
                         .seq = member_int(body, "seq"),
                         .games_sha256 = member_text(body, "games_sha256"),
                         .tc = member_text(body, "tc"),
                         .thought = member_int(body, "thought"),
                         .result = json_object_get(body, "result")};
}

static bool fits(const SignedBatch *batch, const json_t *body) {
    char *text scope(free_ptr) = signed_text(batch);
    return text && signature_fits(member_text(body, "key"), text, member_text(body, "signature"));
}

static void the_example_of_the_documentation_is_signed_by_its_machine(void **state) {
    (void)state;
    json_auto_t *body = kit_api_example("batch.request"), *reply = kit_api_example("workers.reply"),
                *machine = kit_api_example("workers.request");
    SignedBatch batch = example_batch(body, reply);
    assert_string_equal(member_text(machine, "public_key"), member_text(body, "key"));
    assert_true(fits(&batch, body));
}

static void each_fact_of_a_batch_is_signed(void **state) {
    (void)state;
    static const char sha[] = "3c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
    json_auto_t *body = kit_api_example("batch.request"), *reply = kit_api_example("workers.reply");
    const SignedBatch good = example_batch(body, reply);
    json_auto_t *other = json_deep_copy(good.result);
    json_object_set_new(other, "wins", json_integer(11));
    SignedBatch changed[9] = {good, good, good, good, good, good, good, good, good};
    changed[0].installation = "00000000000000000000000000000000";
    changed[1].test++;
    changed[2].task++;
    changed[3].seq++;
    changed[4].games_sha256 = sha;
    changed[5].games_sha256 = NULL;
    changed[6].tc = "12.310+0.124";
    changed[7].thought++;
    changed[8].result = other;
    for (int i = 0; i < 9; i++)
        assert_false(fits(&changed[i], body));
}

static void no_two_batches_have_the_same_text(void **state) {
    (void)state;
    json_auto_t *body = kit_api_example("batch.request"), *reply = kit_api_example("workers.reply");
    SignedBatch batch = example_batch(body, reply);
    batch.tc = "10.000+0.100\nthought 0";
    assert_null(signed_text(&batch));
    batch = example_batch(body, reply);
    batch.installation = "1\ntest 2";
    assert_null(signed_text(&batch));
    batch = example_batch(body, reply);
    batch.games_sha256 = "-";
    assert_null(signed_text(&batch));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(keys_and_signatures_are_those_of_rfc_8032),
        TEST(new_keys_differ_and_sign),
        TEST(other_forms_are_no_keys_and_no_signatures),
        TEST(the_example_of_the_documentation_is_signed_by_its_machine),
        TEST(each_fact_of_a_batch_is_signed),
        TEST(no_two_batches_have_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
