// See evidence_check.h.
#include "server/proof/evidence_check.h"

#include <inttypes.h>
#include <string.h>

#include "server/common/batch_signature.h"
#include "server/common/json_member.h"
#include "server/proof/check.h"

// ---- signatures ---------------------------------------------------------------------------------

static const char *key_name(const CheckedBatch *b, char out[120]) {
    snprintf(out, 120, "%" PRId64 " %.80s", b->machine, b->key);
    return out;
}

// The keys by machine and key.
static json_t *registered_keys(const Check *check) {
    const json_t *row;
    size_t i;
    json_t *keys = json_object();
    json_array_foreach (json_object_get(check->evidence->manifest, "keys"), i, row) {
        CheckedBatch named = {.machine = member_int(row, "machine"),
                              .key = member_text(row, "public_key")};
        char name[120];
        json_object_set_new(keys, key_name(&named, name), json_true());
    }
    return keys;
}

static bool is_signed(const Check *check, const CheckedBatch *b) {
    SignedBatch what = {.installation = member_text(check->test, "installation"),
                        .test = member_int(check->test, "id"),
                        .task = b->task,
                        .seq = b->seq,
                        .games_sha256 = b->games,
                        .tc = b->tc,
                        .thought = b->thought,
                        .result = b->result};
    char *text scope(free_ptr) = signed_text(&what);
    return text && signature_fits(b->key, text, b->signature);
}

static void check_signatures(Check *check) {
    json_auto_t *keys = registered_keys(check), *used = json_object();
    check->step = "signatures";
    for (size_t i = 0; i < check->count; i++) {
        const CheckedBatch *b = &check->batches[i];
        char name[120];
        const char *wrong = !*b->signature ? "has no signature"
                            : !json_object_get(keys, key_name(b, name))
                                ? "is signed with a key that its machine did not register"
                            : !is_signed(check, b)
                                ? "is not what its machine signed: its games' hash, counts, clock "
                                  "or place were changed afterwards"
                                : NULL;
        if (wrong)
            check_wrong(check, "batch %" PRId64 " of task %" PRId64 ", machine %" PRId64 ": it %s",
                        b->seq, b->task, b->machine, wrong);
        else
            json_object_set_new(used, name, json_true());
    }
    size_t signers = json_object_size(used);
    check_end(check, "%zu batch%s as their machines signed them, with %zu key%s", check->count,
              check->count == 1 ? " is" : "es are", signers, signers == 1 ? "" : "s");
}

// ---- all ----------------------------------------------------------------------------------------

static void print_test(const Check *check) {
    char *title scope(free_ptr) = check_shown(member_text(check->test, "title"));
    char *result scope(free_ptr) = check_shown(member_text(check->test, "result"));
    fprintf(check->out, "test %" PRId64 ", %s: %s, by installation %s\n",
            member_int(check->test, "id"), title, *result ? result : "not finished",
            member_text(check->test, "installation"));
}

int64_t evidence_check(const Evidence *evidence, FILE *out) {
    Check check scope(check_release) = {.evidence = evidence, .out = out, .step = "evidence"};
    Error err = {0};
    if (!check_load(&check, &err)) {
        char *why scope(free_ptr) = check_shown(err.message);
        check_wrong(&check, "%s", why);
        return check.all_wrong;
    }
    print_test(&check);
    check_signatures(&check);
    check_games(&check);
    check_count(&check);
    check_print_owners(&check);
    return check.all_wrong;
}
