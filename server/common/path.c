// See path.h.
#include "server/common/path.h"

#include <string.h>

#include "server/common/visible.h"

enum { DEPTH_MAX = 20 };

static bool component_is_refused(const char *start, size_t n) {
    return n == 0 || (n == 1 && start[0] == '.') || (n == 2 && memcmp(start, "..", 2) == 0) ||
           (n == 4 && strncasecmp(start, ".git", 4) == 0) ||
           (n == 11 && strncasecmp(start, ".gitmodules", 11) == 0);
}

bool path_is_plain(const char *path) {
    for (const char *p = path; *p; p++)
        if (*p < ' ' || *p > '~')
            return false;
    return *path && strlen(path) <= PATH_BYTES_MAX;
}

bool path_check(const char *path, Error *err) {
    char shown[400];
    visible_copy(shown, sizeof shown, path, strlen(path), false);
    if (!path_is_plain(path))
        return error_field(
            err, 422, "patch_path", "patch",
            "'%s' is not a valid file name: a name has at most %d bytes, all of them "
            "printable ASCII",
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
                       "'%s' is outside the engine's source tree or is not a valid file name; a "
                       "patch may only change files inside the tree",
                       shown);
}
