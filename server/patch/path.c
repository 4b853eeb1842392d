// File names in patches: how they are written, and which are refused because they lead out of the
// source tree or into git's own files.
#include <string.h>

#include "server/common/visible.h"
#include "server/patch/patch.h"

enum { PATH_BYTES_MAX = 400, DEPTH_MAX = 20 };

static bool component_is_refused(const char *start, size_t n) {
    return n == 0 || (n == 1 && start[0] == '.') || (n == 2 && memcmp(start, "..", 2) == 0) ||
           (n == 4 && strncasecmp(start, ".git", 4) == 0) ||
           (n == 11 && strncasecmp(start, ".gitmodules", 11) == 0);
}

bool patch_path_is_plain(const char *path) {
    for (const char *p = path; *p; p++)
        if (*p < ' ' || *p > '~')
            return false;
    return *path && strlen(path) <= PATH_BYTES_MAX;
}

bool patch_path_check(const char *path, Error *err) {
    char shown[400];
    visible_copy(shown, sizeof shown, path, strlen(path), false);
    if (!patch_path_is_plain(path))
        return error_field(err, 422, "patch_path", "patch",
                           "'%s' is no file name that volunteers' machines take: names are of at "
                           "most %d bytes, all of them printable ASCII",
                           shown, PATH_BYTES_MAX);
    bool bad = strchr(path, '\\');
    int depth = 0;
    for (const char *p = path; !bad; depth++) {
        size_t n = strcspn(p, "/");
        bad = component_is_refused(p, n);
        if (!p[n])
            break;
        p += n + 1;
    }
    if (!bad && depth < DEPTH_MAX)
        return true;
    return error_field(err, 422, "patch_path", "patch",
                       "'%s' is outside the engine's source tree or no usable file name; a patch "
                       "may only touch files below its top",
                       shown);
}

static char unescape(const char **p) {
    static const char letters[] = "abtnvfr", values[] = "\a\b\t\n\v\f\r";
    const char *at = **p ? strchr(letters, **p) : NULL;
    if (at)
        return (*p)++, values[at - letters];
    if (**p < '0' || **p > '7')
        return **p ? *(*p)++ : '\\';
    int value = 0;
    for (int i = 0; i < 3 && **p >= '0' && **p <= '7'; i++)
        value = value * 8 + *(*p)++ - '0';
    return (char)(value ? value : 1); // a NUL would end the name early; 1 is refused later
}

// A name up to `stop` (a tab or the line's end), or in quotes. *text moves past it.
char *patch_name_read(const char **text, const char *end, char stop) {
    Str name;
    str_init(&name, PATH_BYTES_MAX * 4);
    char *line scope(free_ptr) = xstrndup(*text, (size_t)(end - *text));
    const char *p = line;
    bool quoted = *p == '"';
    p += quoted;
    while (*p && *p != (quoted ? '"' : stop)) {
        if (quoted && *p == '\\')
            p++, str_putc(&name, unescape(&p));
        else
            str_putc(&name, *p++);
    }
    *text += p - line + (quoted && *p == '"');
    return str_steal(&name);
}
