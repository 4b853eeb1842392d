// See review.h.
#include "server/submit/review.h"

#include "server/common/json_member.h"
#include "server/patch/patch.h"

// The first file that the diff names and does not show.
static const json_t *unseen_file(const json_t *diff) {
    json_t *file;
    size_t i;
    json_array_foreach (json_object_get(diff, "files"), i, file) {
        if (json_is_object(json_object_get(file, "unseen")))
            return file;
    }
    return NULL;
}

static bool is_short(const json_t *diff, Error *err) {
    return !json_is_true(json_object_get(diff, "truncated")) ||
           error_set(err, 409, "diff_too_long",
                     "the diff has over %d lines or %zu MiB, more than the server shows; ask "
                     "for the change in several patches",
                     DIFF_WHOLE.lines, DIFF_WHOLE.bytes >> 20);
}

static bool has_all_bytes(const json_t *diff, Error *err) {
    const json_t *file = unseen_file(diff);
    const json_t *content = json_object_get(file, "unseen");
    return !file ||
           error_set(err, 409, "files_unseen",
                     "the diff does not show the bytes of %.200s (%lld bytes, SHA-256 %s); look at "
                     "them elsewhere and say so",
                     member_text(file, "path"), (long long)member_int(content, "size"),
                     member_text(content, "sha256"));
}

static json_t *diff_of(git_repository *repo, const SqlTestForChange *test, Error *err) {
    DiffCommits commits = {
        .patch = test->new_commit, .base = test->base_commit, .baseline = test->baseline};
    return patch_test_document(repo, &commits, DIFF_WHOLE, err);
}

// Both parts of the diff of a test: the patch and, if it is not in the baseline's history, its
// base.
static bool covers(const json_t *diff, bool unseen_too, Error *err) {
    const json_t *base = json_object_get(diff, "base_diff");
    return is_short(diff, err) && is_short(base, err) &&
           (unseen_too || (has_all_bytes(diff, err) && has_all_bytes(base, err)));
}

bool review_covers(git_repository *repo, const SqlTestForChange *test, bool unseen_too,
                   Error *err) {
    json_auto_t *diff = diff_of(repo, test, err);
    return diff && covers(diff, unseen_too, err);
}
