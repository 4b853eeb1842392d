// The text of a patch before it is parsed: lines, line ends, character set.
#include <string.h>

#include "server/patch/patch.h"

bool patch_line(PatchCursor *c, const char **text, size_t *size) {
    if (c->p >= c->end)
        return false;
    const char *newline = memchr(c->p, '\n', (size_t)(c->end - c->p));
    const char *stop = newline ? newline : c->end;
    *text = c->p;
    *size = (size_t)(stop - c->p);
    c->p = newline ? newline + 1 : c->end;
    c->line++;
    return true;
}

bool patch_starts(const char *text, size_t size, const char *prefix) {
    size_t n = strlen(prefix);
    return size >= n && memcmp(text, prefix, n) == 0;
}

// Browsers send pasted text with CRLF. If every line ends in CRLF, the CR comes from the browser.
// Otherwise the CRs belong to the files.
static bool all_lines_end_in_crlf(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
            return false;
    return memchr(text, '\n', size) != NULL;
}

static bool is_blank(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r\n", text[i]))
            return false;
    return true;
}

char *patch_normalise(const char *bytes, size_t size, size_t *out_size, Error *err) {
    if (size > PATCH_BYTES_MAX)
        return error_field(err, 413, "too_large", "patch",
                           "the patch has %zu bytes, the limit is 1 MB (%d)", size,
                           PATCH_BYTES_MAX),
               NULL;
    if (patch_starts(bytes, size, "\xef\xbb\xbf"))
        bytes += 3, size -= 3;
    if (memchr(bytes, 0, size))
        return error_field(err, 422, "patch_not_text", "patch",
                           "this is a binary file, not a patch; upload what `git diff --binary` or "
                           "`git format-patch` wrote"),
               NULL;
    if (is_blank(bytes, size))
        return error_field(err, 422, "patch_empty", "patch",
                           "the patch is empty; paste the output of `git diff`, or of "
                           "`git format-patch --stdout`"),
               NULL;
    bool crlf = all_lines_end_in_crlf(bytes, size);
    Str text;
    str_init(&text, PATCH_BYTES_MAX + 1);
    for (size_t i = 0; i < size; i++)
        if (!(crlf && bytes[i] == '\r' && (i + 1 == size || bytes[i + 1] == '\n')))
            str_putc(&text, bytes[i]);
    if (text.data[text.size - 1] != '\n')
        str_putc(&text, '\n');
    *out_size = text.size;
    return str_steal(&text);
}
