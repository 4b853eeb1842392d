// File names as patches write them.
#include <string.h>

#include "server/common/path.h"
#include "server/patch/patch.h"

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
    return (char)(value ? value : 1); // a NUL would end the name; 1 is refused later
}

// Reads a name up to `stop` (a tab or the end of the line), or in quotes. *text moves past it.
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
