// See submit_kit.h.
#include "tests/kit/submit_kit.h"

#include <stdlib.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "server/git/snapshot.h"
#include "server/submit/fields.h"
#include "tests/kit/repo_kit.h"

static void make_repository(SubmitKit *kit) {
    Error err;
    const char *data = kit->ledger.folder;
    git_repository *repo scope(repo_free) = repo_create(data, "anvil", "main", &err);
    char *source scope(free_ptr) = xasprintf("%s/source", data);
    if (!repo)
        fatal("%s", err.message);
    kit_write(source, "main.c", "int main(void) {\n    return 0;\n}\n");
    kit_commit(repo, source, NULL, kit->base);
    kit_write(source, "other.c", "int other;\n");
    kit_commit(repo, source, kit->base, kit->patched);
}

// The fixture's commits have made-up names.
static void name_commits(SubmitKit *kit) {
    kit_sql(&kit->ledger, "UPDATE engines SET baseline = '%s', reference_commit = '%s'", kit->base,
            kit->base);
    kit_sql(&kit->ledger, "UPDATE commits SET sha = iif(sha LIKE '1111%%', '%s', '%s')", kit->base,
            kit->patched);
    kit_sql(&kit->ledger, "UPDATE sides SET sha = iif(side = 'base', '%s', '%s')", kit->base,
            kit->patched);
}

static void name_snapshots(SubmitKit *kit) {
    Error err;
    const char *const commits[] = {kit->base, kit->patched};
    git_repository *repo scope(repo_free) = repo_open(kit->ledger.folder, "anvil", &err);
    for (size_t i = 0; i < 2; i++) {
        char sha[SHA256_HEX_MAX];
        if (!repo || !snapshot_hash(repo, commits[i], sha, &err))
            fatal("%s", err.message);
        kit_sql(&kit->ledger,
                "UPDATE trees SET snapshot = '%s' WHERE snapshot = (SELECT snapshot FROM commits "
                "WHERE sha = '%s')",
                sha, commits[i]);
        kit_sql(&kit->ledger, "UPDATE commits SET snapshot = '%s' WHERE sha = '%s'", sha,
                commits[i]);
    }
}

bool submit_kit_open(SubmitKit *kit) {
    *kit = (SubmitKit){0};
    if (!kit_open(&kit->ledger))
        return false;
    make_repository(kit);
    name_commits(kit);
    name_snapshots(kit);
    kit_sql(&kit->ledger,
            "INSERT INTO users (id, name, password, created) VALUES (4, 'dev', 'x', 1)");
    kit_sql(&kit->ledger,
            "INSERT INTO roles (user_id, engine_id, role) VALUES (1, 1, 'developer'), "
            "(4, 1, 'developer'), (2, 1, 'maintainer')");
    submit_kit_as(kit, KIT_AUTHOR);
    return true;
}

void submit_kit_close(SubmitKit *kit) {
    turn_release(&kit->ledger.turn);
    kit_close(&kit->ledger);
}

const Caller *submit_kit_as(SubmitKit *kit, int64_t user) {
    static const char *const names[] = {"", "ada", "ben", "cyd", "dev"};
    kit->viewer = (Viewer){.user_id = user};
    snprintf(kit->viewer.name, sizeof kit->viewer.name, "%s", names[user]);
    kit->caller = (Caller){&kit->ledger.turn, &kit->viewer, kit->ledger.folder};
    return &kit->caller;
}

static void submission_drop(Submission **submission) {
    submission_free(*submission);
}

int64_t submit_kit_submit(SubmitKit *kit, const char *fields, const char *patch) {
    Error *err = &kit->ledger.err;
    json_auto_t *object = json_loads(fields, 0, NULL);
    SubmitInput input = {.fields = submit_fields_of_json(object, err)};
    if (!input.fields)
        return 0;
    if (patch)
        json_object_set_new(input.fields, "patch", json_string(patch));
    Submission *s scope(submission_drop) = submit_prepare(&kit->caller, input, err);
    int64_t test = s ? submit_store(&kit->caller, s, err) : 0;
    kit_turn(&kit->ledger);
    return test;
}

int submit_kit_set_up(void **state) {
    SubmitKit *kit = *state = calloc(1, sizeof *kit);
    return kit && submit_kit_open(kit) ? 0 : -1;
}

int submit_kit_tear_down(void **state) {
    submit_kit_close(*state);
    free(*state);
    return 0;
}
