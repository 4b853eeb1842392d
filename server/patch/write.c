// A file's part in git's own form, whatever form it came in: what libgit2 is given.
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "server/patch/patch.h"

// C-style quotes around names with unusual bytes, as git writes and reads them.
static void write_path(const char *prefix, const char *path, Str *out) {
    bool quoted = false;
    for (const char *p = path; *p; p++)
        quoted |= !isalnum((unsigned char)*p) && !strchr("._-+/", *p);
    str_printf(out, "%s%s", quoted ? "\"" : "", prefix);
    for (const char *p = path; *p; p++)
        if (*p == '"' || *p == '\\')
            str_printf(out, "\\%c", *p);
        else if ((unsigned char)*p < 32 || (unsigned char)*p > 126)
            str_printf(out, "\\%03o", (unsigned char)*p);
        else
            str_putc(out, *p);
    str_puts(out, quoted ? "\"" : "");
}

static void write_modes(const PatchFile *file, Str *out) {
    if (!file->old_path)
        str_printf(out, "new file mode %06o\n", file->new_mode ? file->new_mode : 0100644);
    else if (!file->new_path)
        str_printf(out, "deleted file mode %06o\n", file->old_mode ? file->old_mode : 0100644);
    else if (file->old_mode && file->new_mode && file->old_mode != file->new_mode)
        str_printf(out, "old mode %06o\nnew mode %06o\n", file->old_mode, file->new_mode);
}

static void write_path_line(const char *before, const char *prefix, const char *path, Str *out) {
    str_puts(out, before);
    if (path)
        write_path(prefix, path, out);
    else
        str_puts(out, "/dev/null");
    str_putc(out, '\n');
}

// Empty context lines get the blank back that an editor took away.
static void write_hunk(const PatchHunk *hunk, Str *out) {
    str_printf(out, "@@ -%ld,%ld +%ld,%ld @@\n", hunk->old_start, hunk->old_count, hunk->new_start,
               hunk->new_count);
    PatchCursor c = {hunk->lines, hunk->lines + hunk->size, 0};
    const char *text;
    size_t size;
    while (patch_line(&c, &text, &size)) {
        if (!size)
            str_putc(out, ' ');
        str_add(out, text, size);
        str_putc(out, '\n');
    }
}

void patch_file_write(const PatchFile *file, Str *out) {
    const char *old = file->old_path ? file->old_path : file->new_path;
    const char *new = file->new_path ? file->new_path : file->old_path;
    assert(old && new); // every file has one name
    str_puts(out, "diff --git ");
    write_path("a/", old, out);
    str_putc(out, ' ');
    write_path("b/", new, out);
    str_putc(out, '\n');
    write_modes(file, out);
    if (strcmp(old, new) != 0) {
        str_printf(out, "similarity index %d%%\n", file->similarity);
        write_path_line("rename from ", "", old, out);
        write_path_line("rename to ", "", new, out);
    }
    if (file->old_id[0] && file->new_id[0])
        str_printf(out, "index %s..%s\n", file->old_id, file->new_id);
    if (file->binary)
        str_add(out, file->literal, file->literal_size);
    if (!file->hunk_count)
        return;
    write_path_line("--- ", "a/", file->old_path, out);
    write_path_line("+++ ", "b/", file->new_path, out);
    for (int i = 0; i < file->hunk_count; i++)
        write_hunk(&file->hunks[i], out);
}
