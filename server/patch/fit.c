// Applies the hunks of one file to the lines of the base's file. A hunk fits exactly at the lines
// that it names, or not at all. A refusal names file, hunk and line.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/utf8.h"
#include "server/patch/patch.h"

const char *patch_file_name(const PatchFile *file) {
    return file->old_path ? file->old_path : file->new_path;
}

bool patch_refuse(Error *err, const char *path, const char *format, ...) {
    char what[700];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_field(err, 422, "patch_does_not_apply", "patch", "%.200s%s", path, what);
}

static char *shown_line(const char *text, size_t size) {
    char *clean = utf8_clean(text, size < 100 ? size : 100);
    clean[strcspn(clean, "\n")] = 0;
    return clean;
}

static bool refuse_line(Error *err, const PatchFile *file, int number, long line, const char *found,
                        size_t found_size, const char *wanted, size_t wanted_size) {
    char *has scope(free_ptr) = shown_line(found, found_size);
    char *wants scope(free_ptr) = shown_line(wanted, wanted_size);
    bool newline = strcmp(has, wants) == 0;
    return patch_refuse(
        err, file->old_path,
        ", hunk %d: line %ld differs: the base has '%s', the patch expects '%s'%s. Lines "
        "are not searched for at other places: make the patch against the chosen base",
        number, line, has, wants,
        newline ? " (the difference is in its end: line ends or a missing newline)" : "");
}

// Only the last line of a file may lack its newline.
static bool append(Error *err, const PatchFile *file, Str *out, const char *bytes, size_t size,
                   bool newline) {
    if ((size || newline) && out->size && out->data[out->size - 1] != '\n')
        return patch_refuse(err, patch_file_name(file),
                            ": a line follows one that has no newline at its end");
    str_add(out, bytes, size);
    if (newline)
        str_putc(out, '\n');
    return true;
}

// Compares a line that the hunk expects with the next line of the base's file.
static bool match_line(Error *err, const PatchFile *file, int number, PatchCursor *content,
                       const char *wants, size_t wants_size, bool wants_newline) {
    const char *has;
    size_t has_size;
    if (!patch_line(content, &has, &has_size))
        return patch_refuse(err, patch_file_name(file),
                            ", hunk %d: the base's file ends at line %d, the patch expects more",
                            number, content->line);
    bool has_newline = content->p[-1] == '\n';
    return (has_size == wants_size && memcmp(has, wants, has_size) == 0 &&
            has_newline == wants_newline) ||
           refuse_line(err, file, number, content->line, has, has_size, wants, wants_size);
}

// Copies the lines of the base's file that are before the hunk.
static bool reach_hunk(Error *err, const PatchFile *file, int number, PatchCursor *content,
                       Str *out) {
    const PatchHunk *hunk = &file->hunks[number - 1];
    const char *from = content->p, *line;
    size_t size;
    // If the hunk has no old lines, old_start is the line before it; "-0,0" is the top of a file.
    long first = hunk->old_count ? hunk->old_start : hunk->old_start + 1;
    if (first <= content->line)
        return patch_refuse(err, patch_file_name(file),
                            ", hunk %d: begins before the hunk above it ends", number);
    while (content->line < first - 1)
        if (!patch_line(content, &line, &size))
            return patch_refuse(err, patch_file_name(file),
                                ", hunk %d: is for line %ld, but the base's file ends at line %d",
                                number, first, content->line);
    return append(err, file, out, from, (size_t)(content->p - from), false);
}

static bool apply_hunk(Error *err, const PatchFile *file, int number, PatchCursor *content,
                       Str *out) {
    const PatchHunk *hunk = &file->hunks[number - 1];
    PatchCursor lines = {hunk->lines, hunk->lines + hunk->size, 0};
    const char *text;
    size_t size;
    if (!reach_hunk(err, file, number, content, out))
        return false;
    while (patch_line(&lines, &text, &size)) {
        char kind = size ? *text : ' '; // an editor removed the blank of an empty line
        if (kind == '\\')
            continue;
        bool newline = lines.p >= lines.end || *lines.p != '\\';
        text += size > 0, size -= size > 0;
        if (kind != '+' && !match_line(err, file, number, content, text, size, newline))
            return false;
        if (kind == '-')
            continue;
        if (!append(err, file, out, text, size, newline))
            return false;
    }
    return true;
}

bool patch_fit(const PatchFile *file, const char *old, size_t old_size, Str *out, Error *err) {
    PatchCursor content = {old, old + old_size, 0};
    for (int i = 1; i <= file->hunk_count; i++)
        if (!apply_hunk(err, file, i, &content, out))
            return false;
    if (file->new_path)
        return append(err, file, out, content.p, (size_t)(content.end - content.p), false);
    if (content.p < content.end)
        return patch_refuse(
            err, file->old_path,
            ": the patch deletes this file, but the base's has more lines (line %d)",
            content.line + 1);
    return !out->size ||
           patch_refuse(err, file->old_path, ": the patch deletes this file and adds lines to it");
}
