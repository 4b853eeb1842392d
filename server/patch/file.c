// The part of a patch for one file: the headers of `git diff` or of `diff -u`, then its hunks
// (hunk.c).
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/utf8.h"
#include "server/patch/patch.h"

static const char link_advice[] =
    "links can leave the source tree; add a copy of the file or change the build instead";

// Git's "a/x" without the folder "a/"; NULL for /dev/null.
static char *strip_prefix(char *name) {
    char *stripped = NULL;
    if (strcmp(name, "/dev/null") != 0)
        stripped =
            xstrdup(name[0] && name[1] == '/' && strchr("abciow", name[0]) ? name + 2 : name);
    free(name);
    return stripped;
}

static void set_path(char **path, char *name) {
    free(*path);
    *path = name;
}

static bool refuse_mode(const PatchFile *file, unsigned mode, Error *err) {
    if (mode == 0 || mode == 0100644 || mode == 0100755)
        return true;
    const char *path = file->new_path ? file->new_path : file->old_path;
    char *shown scope(free_ptr) = utf8_clean(path ? path : "", path ? strnlen(path, 200) : 0);
    return error_field(err, 422, "patch_mode", "patch", "%s, line %d of the patch: %s", shown,
                       file->line,
                       mode == 0120000   ? link_advice
                       : mode == 0160000 ? "submodules are not supported; add the files themselves"
                                         : "only the modes 100644 and 100755 are supported");
}

static unsigned octal(const char *text, const char *end) {
    unsigned value = 0;
    for (; text < end && *text >= '0' && *text <= '7' && value < 01000000; text++)
        value = value * 8 + (unsigned)(*text - '0');
    return value ? value : 1; // 1 is the mode of no file
}

static void copy_id(char id[41], const char *text, const char *end) {
    size_t n = 0;
    while (n < 40 && text + n < end && isxdigit((unsigned char)text[n]))
        id[n] = text[n], n++;
    id[n] = 0;
}

// "index 1234567..89abcde 100644"
static void read_index(PatchFile *file, const char *text, const char *end) {
    copy_id(file->old_id, text, end);
    const char *dots = memmem(text, (size_t)(end - text), "..", 2);
    if (!dots)
        return;
    copy_id(file->new_id, dots + 2, end);
    const char *blank = memchr(dots, ' ', (size_t)(end - dots));
    if (blank && !file->old_mode)
        file->old_mode = file->new_mode = octal(blank + 1, end);
}

// "diff --git a/x b/x". The two names are equal unless later headers say otherwise. So the blank in
// the middle separates them, even if the names have blanks.
static void read_git_line(PatchFile *file, const char *text, const char *end) {
    char *old = NULL, *new = NULL;
    if (*text == '"' || (end > text && end[-1] == '"')) {
        old = patch_name_read(&text, end, ' ');
        while (text < end && *text == ' ')
            text++;
        new = patch_name_read(&text, end, '\n');
    } else {
        size_t size = (size_t)(end - text), half = size / 2;
        old = xstrndup(text, half);
        new = half < size ? xstrndup(text + half + 1, size - half - 1) : xstrdup("");
    }
    set_path(&file->old_path, strip_prefix(old));
    set_path(&file->new_path, strip_prefix(new));
}

typedef enum { HEADER_OTHER, HEADER_READ, HEADER_REFUSED } HeaderKind;

static HeaderKind read_mode_header(PatchFile *file, const char *text, size_t size, Error *err) {
    static const struct {
        const char *prefix;
        bool old, new;
    } modes[] = {{"old mode ", true, false},
                 {"new mode ", false, true},
                 {"new file mode ", false, true},
                 {"deleted file mode ", true, false}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!patch_starts(text, size, modes[i].prefix))
            continue;
        unsigned mode = octal(text + strlen(modes[i].prefix), text + size);
        if (modes[i].old)
            file->old_mode = mode;
        if (modes[i].new)
            file->new_mode = mode;
        if (i == 2)
            set_path(&file->old_path, NULL);
        if (!refuse_mode(file, mode, err))
            return HEADER_REFUSED;
        if (i == 3)
            set_path(&file->new_path, NULL);
        return HEADER_READ;
    }
    return HEADER_OTHER;
}

static HeaderKind read_rename_header(PatchFile *file, const char *text, size_t size, Error *err) {
    const char *end = text + size;
    const char *name = text + 12;
    if (patch_starts(text, size, "rename from ")) {
        set_path(&file->old_path, patch_name_read(&name, end, '\n'));
        file->renames = true;
        return HEADER_READ;
    }
    if (patch_starts(text, size, "rename to ")) {
        name = text + 10;
        set_path(&file->new_path, patch_name_read(&name, end, '\n'));
        return HEADER_READ;
    }
    if (patch_starts(text, size, "similarity index ") ||
        patch_starts(text, size, "dissimilarity index "))
        return HEADER_READ;
    if (!patch_starts(text, size, "copy from "))
        return HEADER_OTHER;
    error_field(err, 422, "patch_copy", "patch",
                "line %d of the patch copies a file; make the diff without -C, so that the copy "
                "is a new file",
                file->line);
    return HEADER_REFUSED;
}

static HeaderKind read_header(PatchFile *file, const char *text, size_t size, Error *err) {
    HeaderKind kind = read_mode_header(file, text, size, err);
    if (kind == HEADER_OTHER)
        kind = read_rename_header(file, text, size, err);
    if (kind != HEADER_OTHER || !patch_starts(text, size, "index "))
        return kind;
    read_index(file, text + 6, text + size);
    return refuse_mode(file, file->new_mode, err) ? HEADER_READ : HEADER_REFUSED;
}

static bool epoch(const char *text, const char *end) {
    return memmem(text, (size_t)(end - text), "1970-01-01 0", 12) ||
           memmem(text, (size_t)(end - text), "1969-12-31 ", 11) ||
           memmem(text, (size_t)(end - text), "1970-01-01 1", 12);
}

// The two lines "--- x" and "+++ y". `diff -N` writes a time of 1970 for a file that does not
// exist.
static bool read_names(PatchCursor *c, PatchFile *file) {
    PatchCursor next = *c;
    const char *old, *new;
    size_t old_size, new_size;
    if (!patch_line(&next, &old, &old_size) || !patch_starts(old, old_size, "--- ") ||
        !patch_line(&next, &new, &new_size) || !patch_starts(new, new_size, "+++ "))
        return false;
    *c = next;
    const char *a = old + 4, *b = new + 4;
    char *old_name = patch_name_read(&a, old + old_size, '\t');
    char *new_name = patch_name_read(&b, new + new_size, '\t');
    if (!file->plain) {
        set_path(&file->old_path, strip_prefix(old_name));
        set_path(&file->new_path, strip_prefix(new_name));
        return true;
    }
    bool made = strcmp(old_name, "/dev/null") == 0 || epoch(a, old + old_size);
    bool gone = strcmp(new_name, "/dev/null") == 0 || epoch(b, new + new_size);
    set_path(&file->old_path, made ? NULL : xstrdup(old_name));
    set_path(&file->new_path, gone ? NULL : xstrdup(new_name));
    free(old_name);
    free(new_name);
    return true;
}

static bool refuse_binary(const PatchFile *file, Error *err) {
    return error_field(
        err, 422, "patch_binary", "patch",
        "line %d of the patch says that a binary file differs and does not contain it; "
        "use `git diff --binary`",
        file->line);
}

static bool read_git_part(PatchCursor *c, PatchFile *file, Error *err) {
    const char *text;
    size_t size;
    patch_line(c, &text, &size);
    read_git_line(file, text + 11, text + size);
    for (PatchCursor next = *c; patch_line(&next, &text, &size); *c = next) {
        HeaderKind kind = read_header(file, text, size, err);
        if (kind == HEADER_REFUSED)
            return false;
        if (kind == HEADER_OTHER)
            break;
    }
    PatchCursor here = *c;
    if (!patch_line(&here, &text, &size))
        return true;
    if (patch_starts(text, size, "Binary files "))
        return refuse_binary(file, err);
    if (patch_starts(text, size, "GIT binary patch"))
        return patch_literal_read(c, file), true;
    return !read_names(c, file) || patch_hunks_read(c, file, err);
}

static bool read_plain_part(PatchCursor *c, PatchFile *file, Error *err) {
    file->plain = true;
    if (!read_names(c, file))
        return false;
    if (!patch_hunks_read(c, file, err))
        return false;
    if (file->hunk_count)
        return true;
    return error_field(err, 422, "patch_malformed", "patch",
                       "line %d of the patch names a file, but no @@ line follows", file->line);
}

bool patch_file_read(PatchCursor *c, PatchFile *file, Error *err) {
    PatchCursor start = *c, next = *c;
    const char *text;
    size_t size;
    *file = (PatchFile){.line = c->line + 1};
    *err = (Error){0};
    bool ok = false;
    if (!patch_line(&next, &text, &size))
        return false;
    if (patch_starts(text, size, "diff --git "))
        ok = read_git_part(c, file, err);
    else if (patch_starts(text, size, "--- "))
        ok = read_plain_part(c, file, err);
    else if (patch_starts(text, size, "Binary files ") && memmem(text, size, " differ", 7))
        refuse_binary(file, err);
    if (ok && !file->old_path && !file->new_path)
        ok = error_field(err, 422, "patch_malformed", "patch", "line %d of the patch names no file",
                         file->line);
    if (!ok) {
        patch_file_release(file);
        if (!err->status)
            *c = start;
    }
    return ok;
}

void patch_file_release(PatchFile *file) {
    free(file->old_path);
    free(file->new_path);
    free(file->hunks);
    file->old_path = file->new_path = NULL;
    file->hunks = NULL;
}
