// See risky_path.h.
#include "server/patch/risky_path.h"

#include <string.h>
#include <strings.h>

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcasecmp(text + a - b, end) == 0;
}

bool path_decides_build(const char *path) {
    static const char *const names[] = {"makefile",    "gnumakefile", "cmakelists.txt",
                                        "meson.build", "configure",   "build.ninja",
                                        "build.rs",    "cargo.toml",  "package.json"};
    static const char *const ends[] = {".mk", ".mak", ".sh",  ".bash", ".cmake",
                                       ".py", ".pl",  ".awk", ".ac",   ".am",
                                       ".in", ".bat", ".ld",  ".s",    ".inc"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i]))
            return true;
    return name[0] == '.';
}

bool path_is_hidden(const char *path) {
    for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1)
        if (*p == '.')
            return true;
    return false;
}
