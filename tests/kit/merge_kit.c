// See merge_kit.h.
#include "tests/kit/merge_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "server/submit/approve.h"

void assert_column(SubmitKit *kit, int64_t test, const char *column, const char *wanted) {
    char *value scope(free_ptr) =
        kit_text(&kit->ledger, "SELECT %s FROM tests WHERE id = %lld", column, (long long)test);
    assert_string_equal(value ? value : "", wanted);
}

void assert_event(SubmitKit *kit, int64_t test, const char *type, const char *part) {
    char *last scope(free_ptr) =
        kit_text(&kit->ledger,
                 "SELECT message FROM events WHERE type = '%s' AND test_id = %lld ORDER BY id DESC",
                 type, (long long)test);
    if (!last || !strstr(last, part))
        fail_msg("%s: %s", last ? last : "no event", part);
}

int64_t kit_approved(SubmitKit *kit, const char *fields, const char *patch) {
    Ground ground = {0};
    submit_kit_as(kit, KIT_AUTHOR);
    int64_t test = submit_kit_submit(kit, fields, patch);
    const Caller *caller = submit_kit_as(kit, KIT_MAINTAINER);
    Error *err = &kit->ledger.err;
    if (!test || !submit_approve_prepare(caller, test, true, &ground, err) ||
        !submit_approve(caller, test, &ground, "", err))
        fail_msg("%s", err->message);
    return test;
}

void kit_accept(SubmitKit *kit, int64_t test) {
    kit_sql(&kit->ledger,
            "UPDATE tests SET state = 'finished', result = 'accepted', finished = 1 "
            "WHERE id = %lld",
            (long long)test);
}

MergeEnd kit_merge_as(SubmitKit *kit, int64_t user, int64_t test) {
    MergeEnd end = {-1, -1, false};
    const Caller *caller = submit_kit_as(kit, user);
    kit_accept(kit, test);
    Merge *prepared = submit_merge_prepare(caller, (MergeAsk){.test = test, .turned_too = true},
                                           &kit->ledger.err);
    if (!prepared || !submit_merge(caller, prepared, &end, &kit->ledger.err))
        fail_msg("%s", kit->ledger.err.message);
    merge_free(prepared);
    kit_turn(&kit->ledger);
    return end;
}

int64_t kit_merge(SubmitKit *kit, int64_t test) {
    MergeEnd end = kit_merge_as(kit, KIT_MAINTAINER, test);
    assert_false(end.trial || end.waits);
    return end.retest;
}

void kit_test_everything(SubmitKit *kit) {
    kit_sql(&kit->ledger, "UPDATE engines SET policy = '{\"untested\": 0}'");
}
