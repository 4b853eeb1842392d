// A patch as a developer pastes or uploads it: the output of `git diff`, of `git format-patch`
// (several mails in a row), or of `diff -u`. Reading a patch needs no repository. Applying it
// changes trees of a repository and nothing else. Line numbers are exact: a hunk applies at the
// line that it names or not at all, because the test must play the code that the developer saw.
#pragma once

#include <jansson.h>

#include "server/common/str.h"
#include "server/git/repo.h"

enum { PATCH_BYTES_MAX = 1 << 20, PATCH_FILES_MAX = 1000, PATCH_MAILS_MAX = 100 };

typedef struct PatchHunk {
    long old_start, old_count, new_start, new_count; // as in its @@ line
    const char *lines;                               // borrowed from Patch.text
    size_t size;
} PatchHunk;

// The change of one file. Paths are as in the patch, without git's "a/" and "b/".
typedef struct PatchFile {
    char *old_path, *new_path;   // NULL: the file is new, is deleted
    unsigned old_mode, new_mode; // octal as in git; 0: not stated
    bool plain;                  // of `diff -u`: patch_apply() finds out how much to strip
    bool binary;
    bool renames;                // stated in the patch; without it, two different names are refused
    char old_id[41], new_id[41]; // of the `index` line; binary patches need them
    const char *literal;         // binary: from "GIT binary patch" on, borrowed
    size_t literal_size;
    PatchHunk *hunks;
    int hunk_count;
    int line; // the line of the text at which it begins, from 1
} PatchFile;

// One commit: a mail of format-patch, or the whole text of a bare diff.
typedef struct PatchMail {
    char *author, *email, *message; // NULL: not a mail. Valid UTF-8
    double authored;                // 0: no readable date
    int offset_minutes;
    PatchFile *files;
    int file_count;
} PatchMail;

typedef struct Patch {
    char *text;
    PatchMail *mails;
    int mail_count;
} Patch;

// 413 over PATCH_BYTES_MAX. 422 for a text that is empty, is not a diff, is cut short, or has a
// kind of change that is refused: symbolic links, submodules, copies, binaries without data. Errors
// have the field "patch" and name file, hunk and line. Every mail has at least one file.
bool patch_parse(const char *bytes, size_t size, Patch *out, Error *err);
void patch_release(Patch *patch);

// Applies the files of one mail to `base` (a tree) and returns the new tree, whose objects are then
// in the repository. Strips a leading "engine/" (and, for `diff -u`, leading folders) if the tree
// does not have it. 422 names file, hunk and the first line that differs.
bool patch_apply(git_repository *repo, const PatchMail *mail, const git_oid *base, git_oid *tree,
                 Error *err);

// How much of a diff a document holds.
typedef struct DiffLimits {
    int lines;
    size_t bytes;
} DiffLimits;
#define DIFF_SHORT ((DiffLimits){5000, 1 << 20})
#define DIFF_WHOLE ((DiffLimits){50000, 8 << 20}) // the most that an approver can be shown

// What the commit changes against the base, for people: {"files": [{"path", "old_path", "status"
// (added, deleted, modified, renamed), "mode", "old_mode", "risk": […], "binary", "unseen",
// "additions", "deletions", "hunks": [{"header", "lines": [{"kind": "context|add|delete|note",
// "old_no", "new_no", "text", "bytes", "parts"}]}], "truncated"}], "additions", "deletions",
// "risky", "truncated", "unseen_files"}. API.md says what they mean. The old files and a document
// that is not truncated and has nothing unseen give the new files, byte for byte.
json_t *patch_document(git_repository *repo, const char *base, const char *commit,
                       DiffLimits limits, Error *err);

// The commits of a test.
typedef struct DiffCommits {
    const char *patch, *base, *baseline;
} DiffCommits;

// patch_document() of the patch against the base. Its member "base_diff" is the same document of
// the base against the baseline, with the commit "from"; null if the base is in the baseline's
// history.
json_t *patch_test_document(git_repository *repo, const DiffCommits *commits, DiffLimits limits,
                            Error *err);

// ---- for the modules of this noun and their tests

typedef struct PatchCursor {
    const char *p, *end;
    int line;
} PatchCursor;
// The next line without its '\n'; false at the end.
bool patch_line(PatchCursor *c, const char **text, size_t *size);
bool patch_starts(const char *text, size_t size, const char *prefix);
// Normal form of the bytes: LF, no BOM, final newline. NULL with an error.
char *patch_normalise(const char *bytes, size_t size, size_t *out_size, Error *err);
// Reads headers and message of a mail; the cursor stands at its "From " or first header line and
// moves to where diffs may begin.
bool patch_mail_read(PatchCursor *c, PatchMail *mail, Error *err);
bool patch_mail_starts(const char *text, size_t size);
// Reads the part of one file; the cursor is at its first line. False with err->status 0: the line
// does not begin such a part.
bool patch_file_read(PatchCursor *c, PatchFile *file, Error *err);
void patch_file_release(PatchFile *file);
// Reads a name up to `stop` or `end`, or in C-style quotes. *text moves past it.
char *patch_name_read(const char **text, const char *end, char stop);
bool patch_hunks_read(PatchCursor *c, PatchFile *file, Error *err);
void patch_literal_read(PatchCursor *c, PatchFile *file);
// 422 `patch_does_not_apply` with the file's name and the text. Always false.
bool patch_refuse(Error *err, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *patch_file_name(const PatchFile *file); // the old name, if there is one
// Appends the file's new content to `out`. `old` is the base's content ("" for a new file).
bool patch_fit(const PatchFile *file, const char *old, size_t old_size, Str *out, Error *err);
// The same for a binary part. Also 422 `patch_does_not_apply` if the hashes of its index line
// differ from those of the old and the new content.
bool patch_fit_binary(const PatchFile *file, const char *old, size_t old_size, Str *out,
                      Error *err);
enum { PATCH_CONTENT_MAX = 64 << 20 }; // of a file that a binary part makes
