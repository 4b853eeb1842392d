// The whole text of a patch: its mails and their files. Text between them is skipped (messages,
// diffstats, signatures).
#include <stdlib.h>
#include <string.h>

#include "server/common/path.h"
#include "server/patch/patch.h"

static PatchMail *add_mail(Patch *patch) {
    size_t count = (size_t)++patch->mail_count;
    patch->mails = xrealloc(patch->mails, count * sizeof *patch->mails);
    patch->mails[count - 1] = (PatchMail){0};
    return &patch->mails[count - 1];
}

static bool add_file(PatchMail *mail, const PatchFile *file, Error *err) {
    size_t count = (size_t)++mail->file_count;
    mail->files = xrealloc(mail->files, count * sizeof *mail->files);
    mail->files[count - 1] = *file;
    if (count > PATCH_FILES_MAX)
        return error_field(err, 422, "patch_too_many_files", "patch",
                           "the patch touches over %d files", PATCH_FILES_MAX);
    bool renamed = file->old_path && file->new_path && strcmp(file->old_path, file->new_path) != 0;
    if (renamed && !file->plain && !file->renames)
        return error_field(err, 422, "patch_malformed", "patch",
                           "line %d of the patch names two different files and states no rename",
                           file->line);
    // Leading folders of a `diff -u` are not stripped yet: they may be "../" and absolute.
    return file->plain || ((!file->old_path || path_check(file->old_path, err)) &&
                           (!file->new_path || path_check(file->new_path, err)));
}

// One step: the head of a mail, a file, or a line that is skipped.
static bool parse_step(Patch *patch, PatchCursor *c, Error *err) {
    PatchCursor next = *c;
    const char *text;
    size_t size;
    patch_line(&next, &text, &size);
    bool at_top = c->p == patch->text;
    if (patch_mail_starts(text, size) && (at_top || text[4] == ' ')) {
        if (patch->mail_count >= PATCH_MAILS_MAX)
            return error_field(err, 422, "patch_too_many_mails", "patch",
                               "the patch has over %d mails; squash its commits", PATCH_MAILS_MAX);
        return patch_mail_read(c, add_mail(patch), err);
    }
    PatchFile file;
    if (patch_file_read(c, &file, err)) {
        PatchMail *mail =
            patch->mail_count ? &patch->mails[patch->mail_count - 1] : add_mail(patch);
        return add_file(mail, &file, err);
    }
    *c = next;
    // `diff -r` without -N writes this line for a file that only one side has. Skipping it would
    // silently leave out the file.
    if (!err->status && patch_starts(text, size, "Only in "))
        error_field(err, 422, "patch_incomplete", "patch",
                    "line %d of the patch leaves out a file that only one side has; make it with "
                    "`diff -ruN`",
                    next.line);
    return !err->status;
}

// A mail without files is a cover letter, or its commit changed nothing.
static void drop_empty_mails(Patch *patch) {
    int kept = 0;
    for (int i = 0; i < patch->mail_count; i++) {
        PatchMail *mail = &patch->mails[i];
        if (mail->file_count) {
            patch->mails[kept++] = *mail;
        } else {
            free(mail->author);
            free(mail->email);
            free(mail->message);
        }
    }
    patch->mail_count = kept;
}

bool patch_parse(const char *bytes, size_t size, Patch *out, Error *err) {
    *out = (Patch){0};
    size_t text_size;
    out->text = patch_normalise(bytes, size, &text_size, err);
    if (!out->text)
        return false;
    PatchCursor c = {out->text, out->text + text_size, 0};
    bool ok = true;
    while (ok && c.p < c.end)
        ok = parse_step(out, &c, err);
    if (ok)
        drop_empty_mails(out);
    if (ok && !out->mail_count)
        ok = error_field(err, 422, "patch_not_a_diff", "patch",
                         "this text has no diff; paste the output of `git diff`, `git format-patch "
                         "--stdout` or `diff -u`, beginning with its first line");
    if (!ok)
        patch_release(out);
    return ok;
}

void patch_release(Patch *patch) {
    for (int i = 0; i < patch->mail_count; i++) {
        PatchMail *mail = &patch->mails[i];
        for (int k = 0; k < mail->file_count; k++)
            patch_file_release(&mail->files[k]);
        free(mail->files);
        free(mail->author);
        free(mail->email);
        free(mail->message);
    }
    free(patch->mails);
    free(patch->text);
    *patch = (Patch){0};
}
