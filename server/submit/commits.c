// See commits.h.
#include "server/submit/commits.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/one_line.h"
#include "server/common/utf8.h"
#include "server/patch/patch.h"
#include "server/submit/fields.h"
#include "sql/tests.h"

// "baseline", "test:7" (that test's new commit), a branch or a commit.
static bool resolve(const Caller *caller, const Submission *s, const char *field,
                    char sha[REPO_SHA_MAX], Error *err) {
    const char *what = field_text(s->fields, field);
    long test;
    SqlTestCommit row scope(sql_row_free) = {0};
    const char *found;
    if (strcmp(what, "baseline") == 0) {
        found = s->engine.baseline;
    } else if (strncmp(what, "test:", 5) == 0) {
        if (!parse_long(what + 5, 1, 1L << 40, &test) ||
            !sql_test_commit(caller->turn->db, &row, .test = test, .engine = s->engine.id))
            return error_field(err, 422, "no_such_test", field,
                               "%s: '%.40s' is no test of this engine", field, what);
        if (row.dropped)
            return error_field(err, 422, "patch_dropped", field,
                               "%s: the server no longer keeps the patch of test %ld, which was "
                               "stopped and not approved",
                               field, test);
        found = row.new_commit;
    } else if (repo_resolve(s->repo, what, sha, err)) {
        return true;
    } else {
        snprintf(err->field, sizeof err->field, "%s", field);
        return error_prefix(err, "%s", field);
    }
    snprintf(sha, REPO_SHA_MAX, "%s", found);
    return true;
}

// ---- the patch

// Git's signatures hold no angle brackets or newlines, and something on both sides.
static char *signature_part(const char *text, const char *fallback) {
    char *out = utf8_clean(text ? text : "", text ? strnlen(text, 200) : 0);
    for (char *p = out; *p; p++)
        if (strchr("<>\n\t", *p))
            *p = ' ';
    if (out[strspn(out, " .,:;\"'")])
        return out;
    free(out);
    return xstrdup(fallback);
}

// For a bare diff: what the form says, with the bench count as other commits have it.
static char *message_of_form(const Submission *s) {
    const char *description = field_text(s->fields, "description");
    Str message;
    str_init(&message, 65536);
    str_printf(&message, "%s\n", field_text(s->fields, "title"));
    if (*description)
        str_printf(&message, "\n%s\n", description);
    if (s->bench && !repo_message_bench(description))
        str_printf(&message, "\nBench: %lld\n", (long long)s->bench);
    return str_steal(&message);
}

static bool make_commit(const Caller *caller, Submission *s, const PatchMail *mail,
                        const git_oid *tree, Error *err) {
    const char *user = caller->viewer->name;
    bool dated = mail->authored > 0;
    char *name scope(free_ptr) = signature_part(mail->author, user);
    char *email scope(free_ptr) = signature_part(mail->email, "");
    char *message scope(free_ptr) = mail->message ? xstrdup(mail->message) : message_of_form(s);
    CommitSpec spec = {.tree = tree,
                       .parent = *s->new ? s->new : s->base,
                       .author = name,
                       .author_email = *email ? email : NULL,
                       .authored = dated ? mail->authored : caller->turn->now,
                       .offset_minutes = dated ? mail->offset_minutes : 0,
                       .message = message};
    char sha[REPO_SHA_MAX];
    if (!repo_commit_as(s->repo, user, caller->turn->now, spec, sha, err))
        return false;
    memcpy(s->new, sha, sizeof s->new);
    return true;
}

// One commit for each mail, each on top of the one before.
static bool apply_mails(const Caller *caller, Submission *s, const Patch *patch, Error *err) {
    CommitInfo base scope(repo_commit_info_release) = {0};
    git_oid tree;
    if (!repo_commit_info(s->repo, s->base, &base, err) || git_oid_fromstr(&tree, base.tree) < 0)
        return false;
    for (int i = 0; i < patch->mail_count; i++) {
        const PatchMail *mail = &patch->mails[i];
        if (!patch_apply(s->repo, mail, &tree, &tree, err))
            return patch->mail_count > 1 ? error_prefix(err, "mail %d", i + 1) : false;
        if (!make_commit(caller, s, mail, &tree, err))
            return false;
    }
    return true;
}

// The subject of the last mail or of the named commit stands in for a title that was left out.
static bool need_title(Submission *s, const char *subject, Error *err) {
    if (*field_text(s->fields, "title"))
        return true;
    size_t n = subject ? strcspn(subject, "\r\n") : 0;
    while (n > 120 || (n && n < strlen(subject) && ((unsigned char)subject[n] & 0xc0) == 0x80))
        n--;
    json_t *title = n ? json_stringn(subject, n) : NULL;
    if (!title) {
        error_field(err, 422, "missing_field", "title",
                    "title: is missing; say in a few words what the patch changes");
        if (!submission_goes_on(s, err))
            return false;
        title = json_string("untitled");
    }
    json_object_set_new(s->fields, "title", title);
    return one_line_check("title", field_text(s->fields, "title"), 1, 120, err);
}

static bool new_of_patch(const Caller *caller, Submission *s, const char *text, size_t size,
                         Error *err) {
    Patch patch scope(patch_release) = {0};
    return patch_parse(text, size, &patch, err) &&
           need_title(s, patch.mails[patch.mail_count - 1].message, err) &&
           apply_mails(caller, s, &patch, err);
}

static bool is_blank(const char *text) {
    return !text[strspn(text, " \r\n\t")];
}

static bool make_new(const Caller *caller, Submission *s, Error *err) {
    PatchBytes file = s->input.patch;
    const char *pasted = field_text(s->fields, "patch");
    bool has_file = file.bytes && file.size, named = *field_text(s->fields, "commit");
    if ((has_file && !is_blank(pasted)) || ((has_file || *pasted) && named))
        return error_field(err, 422, "bad_field", "patch",
                           "patch: give one of a pasted patch, a file and a commit, not several");
    if (has_file)
        return new_of_patch(caller, s, file.bytes, file.size, err);
    if (*pasted)
        return new_of_patch(caller, s, pasted, strlen(pasted), err);
    if (named)
        return resolve(caller, s, "commit", s->new, err);
    return error_field(err, 422, "missing_field", "patch",
                       "patch: is missing; paste or upload the output of `git diff`, or name a "
                       "branch or commit of the repository");
}

// ---- both

// Rows that are there need no snapshot made again.
bool submit_prepare_record(const Caller *caller, const Submission *s, const char *sha,
                           CommitRecord *out, Error *err) {
    SqlCommitBySha row scope(sql_row_free) = {0};
    NetRule rule = net_rule_of(&s->engine);
    if (!sql_commit_by_sha(caller->turn->db, &row, .engine = s->engine.id, .sha = sha))
        return commit_prepare(s->repo, s->draft, sha, &rule, out, err);
    snprintf(out->net.sha, sizeof out->net.sha, "%s", row.net);
    return repo_commit_info(s->repo, sha, &out->info, err);
}

// A commit has one bench count. If one is known and another is declared, one of the two is a
// mistake.
static bool check_bench(const Caller *caller, const Submission *s, const char *field,
                        const CommitInfo *info, int64_t declared, Error *err) {
    int64_t known = sql_commit_bench(caller->turn->db, 0, .engine = s->engine.id, .sha = info->sha);
    known = known ? known : info->bench;
    return !known || !declared || known == declared ||
           error_field(err, 422, "bad_bench", field,
                       "%s: %lld is declared, but the bench of %.10s is known to be %lld; leave "
                       "the field empty, or, if that is wrong, ask a maintainer of %s to correct "
                       "it on the page of a test with that commit",
                       field, (long long)declared, info->sha, (long long)known, s->engine.name);
}

// The bench count in a commit's message counts as established only if the commit is part of the
// baseline; elsewhere it is what the author declares.
static void demote_messages(Submission *s) {
    const char *baseline = s->engine.baseline;
    s->bench = s->bench ? s->bench : s->new_record.info.bench;
    if (!repo_is_ancestor(s->repo, s->new, baseline))
        s->new_record.info.bench = 0;
    if (!repo_is_ancestor(s->repo, s->base, baseline))
        s->base_record.info.bench = 0;
}

bool submit_make_commits(const Caller *caller, Submission *s, Error *err) {
    s->bench = field_whole(s->fields, "bench");
    s->base_bench = field_whole(s->fields, "base_bench");
    if (!resolve(caller, s, "base", s->base, err) || !make_new(caller, s, err) ||
        !submit_prepare_record(caller, s, s->base, &s->base_record, err) ||
        !submit_prepare_record(caller, s, s->new, &s->new_record, err) ||
        !patch_identify(s->repo, s->base, s->new, &s->identity, err))
        return false;
    demote_messages(s);
    return need_title(s, s->new_record.info.subject, err);
}

bool submit_check_benches(const Caller *caller, Submission *s, Error *err) {
    return check_bench(caller, s, "base_bench", &s->base_record.info, s->base_bench, err) &&
           check_bench(caller, s, "bench", &s->new_record.info, s->bench, err);
}
