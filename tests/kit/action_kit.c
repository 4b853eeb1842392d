// See action_kit.h.
#include "tests/kit/action_kit.h"

#include <string.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "server/submit/actions.h"
#include "server/submit/approve.h"
#include "server/submit/harmful.h"
#include "server/submit/merge.h"
#include "server/submit/modify.h"
#include "server/submit/undo.h"

static bool do_approve(const Caller *caller, Error *err) {
    Ground ground = {0};
    return submit_approve_prepare(caller, 1, true, &ground, err) &&
           submit_approve(caller, 1, &ground, "", err);
}

static bool do_upload(const Caller *caller, Error *err) {
    SqlTestForChange row scope(sql_row_free) = {0};
    return right_to(ACTION_UPLOAD_NET, caller, 1, &row, err);
}

static bool do_pause(const Caller *caller, Error *err) {
    return submit_pause(caller, 1, err);
}

static bool do_resume(const Caller *caller, Error *err) {
    Ground ground = {0};
    return submit_resume_prepare(caller, 1, &ground, err) && submit_resume(caller, 1, &ground, err);
}

static bool do_reopen(const Caller *caller, Error *err) {
    Ground ground = {0};
    return submit_reopen_prepare(caller, 1, &ground, err) &&
           submit_reopen(caller, 1, &ground, "because", err);
}

static bool do_modify(const Caller *caller, Error *err) {
    return submit_modify(caller, 1, json_pack("{s:s}", "priority", "-1"), err);
}

static bool do_describe(const Caller *caller, Error *err) {
    return submit_modify(caller, 1, json_pack("{s:s}", "title", "another"), err);
}

static bool do_stop(const Caller *caller, Error *err) {
    return submit_stop(caller, 1, "", err);
}

static bool do_harmful(const Caller *caller, Error *err) {
    json_auto_t *stopped = json_array();
    Harm *harm = submit_harmful_prepare(caller, 1, err);
    bool done = harm && submit_harmful(caller, harm, "", stopped, err);
    harm_free(harm);
    return done;
}

// What is no longer a question of rights: the machine has no batches.
static bool but_for(const char *code, bool done, Error *err) {
    return done || strcmp(err->code, code) == 0;
}

static bool do_exclude(const Caller *caller, Error *err) {
    Exclusion exclusion = {.test = 1, .kind = "machine", .worker = 1, .which = "all", .reason = ""};
    Excluded changed;
    return but_for("nothing_to_exclude", submit_exclude(caller, &exclusion, NULL, &changed, err),
                   err);
}

static bool do_include(const Caller *caller, Error *err) {
    Inclusion inclusion = {.test = 1, .exclusion = 1, .reason = ""};
    Excluded changed;
    return but_for("not_excluded", submit_include(caller, &inclusion, NULL, &changed, err), err);
}

static bool do_readmit(const Caller *caller, Error *err) {
    return but_for("not_misfit", submit_readmit(caller, 1, 1, err), err);
}

static bool do_bench(const Caller *caller, Error *err) {
    return submit_correct_bench(caller, 1, "new", 12345, err);
}

static bool do_merge(const Caller *caller, Error *err) {
    MergeEnd end;
    Merge *merge = submit_merge_prepare(caller, (MergeAsk){.test = 1, .turned_too = true}, err);
    bool done = merge && submit_merge(caller, merge, &end, err);
    merge_free(merge);
    return done;
}

static bool do_undo(const Caller *caller, Error *err) {
    MergeUndo *undo = submit_undo_prepare(caller, 1, err);
    bool done = undo && submit_undo(caller, undo, err);
    undo_free(undo);
    return done;
}

static bool (*const acts[ACTION_COUNT])(const Caller *, Error *) = {
    [ACTION_APPROVE] = do_approve, [ACTION_UPLOAD_NET] = do_upload, [ACTION_PAUSE] = do_pause,
    [ACTION_RESUME] = do_resume,   [ACTION_MODIFY] = do_modify,     [ACTION_DESCRIBE] = do_describe,
    [ACTION_STOP] = do_stop,       [ACTION_HARMFUL] = do_harmful,   [ACTION_EXCLUDE] = do_exclude,
    [ACTION_INCLUDE] = do_include, [ACTION_READMIT] = do_readmit,   [ACTION_BENCH] = do_bench,
    [ACTION_MERGE] = do_merge,     [ACTION_REOPEN] = do_reopen,     [ACTION_UNDO] = do_undo,
};

bool kit_act(Action action, const Caller *caller, Error *err) {
    if (!acts[action])
        fatal("tests/kit/action_kit.c has no function that does action %d", (int)action);
    return acts[action](caller, err);
}
