// Reads hunks and binary parts. The header of a hunk declares its number of lines, and exactly that
// many are read. So a line of a file that looks like the next header is read as a line.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/utf8.h"
#include "server/patch/patch.h"

static bool read_number(const char **p, const char *end, long *out) {
    const char *start = *p;
    *out = 0;
    while (*p < end && isdigit((unsigned char)**p) && *out < 100000000)
        *out = *out * 10 + *(*p)++ - '0';
    return *p > start;
}

static bool read_range(const char **p, const char *end, char sign, long *start, long *count) {
    if (*p >= end || *(*p)++ != sign || !read_number(p, end, start))
        return false;
    *count = 1;
    if (*p < end && **p == ',') {
        (*p)++;
        return read_number(p, end, count);
    }
    return true;
}

static bool read_hunk_header(const char *text, size_t size, PatchHunk *hunk) {
    const char *p = text + 3, *end = text + size;
    if (!patch_starts(text, size, "@@ ") ||
        !read_range(&p, end, '-', &hunk->old_start, &hunk->old_count) || p >= end || *p++ != ' ')
        return false;
    return read_range(&p, end, '+', &hunk->new_start, &hunk->new_count) &&
           patch_starts(p, (size_t)(end - p), " @@");
}

static bool refuse_hunk(const PatchFile *file, int line, const char *what, Error *err) {
    const char *path = file->new_path ? file->new_path : file->old_path;
    char *shown scope(free_ptr) = utf8_clean(path ? path : "?", path ? strnlen(path, 200) : 1);
    return error_field(err, 422, "patch_malformed", "patch",
                       "%s, hunk %d (line %d of the patch): %s", shown, file->hunk_count, line,
                       what);
}

// Reads as many lines as the header declares. An empty line is an empty context line: an editor or
// a mail program removed its blank.
static bool read_hunk_lines(PatchCursor *c, const PatchFile *file, PatchHunk *hunk, Error *err) {
    long old_left = hunk->old_count, new_left = hunk->new_count;
    hunk->lines = c->p;
    const char *text;
    size_t size;
    while (old_left > 0 || new_left > 0) {
        if (!patch_line(c, &text, &size))
            return refuse_hunk(file, c->line,
                               "the patch ends before the hunk does; paste all of it", err);
        char kind = size ? *text : ' ';
        if (kind == '\\')
            continue;
        old_left -= kind == ' ' || kind == '-';
        new_left -= kind == ' ' || kind == '+';
        if (!strchr(" -+", kind) || old_left < 0 || new_left < 0)
            return refuse_hunk(file, c->line,
                               "the hunk has other lines than its @@ line declares; was the patch "
                               "edited by hand or wrapped by a mail program?",
                               err);
    }
    PatchCursor next = *c;
    if (patch_line(&next, &text, &size) && size && *text == '\\')
        *c = next;
    hunk->size = (size_t)(c->p - hunk->lines);
    return true;
}

bool patch_hunks_read(PatchCursor *c, PatchFile *file, Error *err) {
    PatchHunk hunk = {0};
    const char *text;
    size_t size;
    for (PatchCursor next = *c; patch_line(&next, &text, &size); next = *c) {
        if (!patch_starts(text, size, "@@ "))
            break;
        file->hunk_count++;
        if (!read_hunk_header(text, size, &hunk))
            return refuse_hunk(file, next.line, "the @@ line cannot be read", err);
        file->hunks = xrealloc(file->hunks, (size_t)file->hunk_count * sizeof *file->hunks);
        *c = next;
        file->hunks[file->hunk_count - 1] = (PatchHunk){0};
        if (!read_hunk_lines(c, file, &hunk, err))
            return false;
        file->hunks[file->hunk_count - 1] = hunk;
    }
    return true;
}

// "GIT binary patch": one or two blocks. Each is "literal N" or "delta N", lines of base 85, and an
// empty line.
void patch_literal_read(PatchCursor *c, PatchFile *file) {
    const char *text;
    size_t size;
    file->binary = true;
    file->literal = c->p;
    patch_line(c, &text, &size);
    for (PatchCursor next = *c; patch_line(&next, &text, &size); *c = next)
        if (size && !patch_starts(text, size, "literal ") && !patch_starts(text, size, "delta ") &&
            (size < 6 || size > 66 || !isalpha((unsigned char)*text) || memchr(text, ' ', size)))
            break;
    file->literal_size = (size_t)(c->p - file->literal);
}
