// See installed.h.
#include "server/common/installed.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/str.h"

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *installed_folder(const char *name, const char *in_tree) {
    // build/server and build/sanitize/server are at different depths of the tree.
    const char *const places[][2] = {
        {"../share/patchmate", name}, {"..", in_tree}, {"../..", in_tree}};
    char program[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size <= 0)
        return NULL;
    program[size] = 0;
    *strrchr(program, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = xasprintf("%s/%s/%s", program, places[i][0], places[i][1]);
        if (is_folder(path))
            return path;
        free(path);
    }
    return NULL;
}
