// See router.h. Looks at all rows: there are few, and most differ in their first bytes.
#include "server/http/router.h"

#include <stdio.h>
#include <string.h>

typedef struct Match {
    RouteMatch out;
    int count;      // of params
    unsigned score; // two bits for each segment: 2 literal, 1 a parameter, 0 the rest
} Match;

static bool add_param(Match *match, const char *at, size_t size) {
    if (match->count == ROUTE_PARAMS_MAX || !size)
        return false;
    match->out.params[match->count].at = at;
    match->out.params[match->count++].size = size;
    return true;
}

// Compares one segment of the pattern (`size` bytes) with one segment of the path.
static bool segment_matches(Match *match, const char *pattern, size_t size, const char *path,
                            size_t length) {
    const char *open = memchr(pattern, '{', size);
    match->score = match->score << 2 | (open ? 1 : 2);
    if (!open)
        return size == length && !memcmp(pattern, path, size);
    const char *close = memchr(open, '}', (size_t)(pattern + size - open));
    size_t before = (size_t)(open - pattern), after = (size_t)(pattern + size - close - 1);
    return length > before + after && !memcmp(pattern, path, before) &&
           !memcmp(close + 1, path + length - after, after) &&
           add_param(match, path + before, length - before - after);
}

static bool pattern_matches(Match *match, const char *pattern, const char *path) {
    int segments = 0;
    while (*pattern == '/' && *path == '/') {
        size_t size = strcspn(++pattern, "/"), length = strcspn(++path, "/");
        if (size > 4 && !memcmp(pattern + size - 4, "...}", 4)) {
            match->score <<= 2 * (12 - segments);
            return add_param(match, path, strlen(path));
        }
        if (!segment_matches(match, pattern, size, path, length))
            return false;
        pattern += size;
        path += length;
        segments++;
    }
    match->score <<= 2 * (12 - segments);
    return !*pattern && !*path;
}

static void allow_method(RouteMatch *best, const char *method) {
    size_t used = strlen(best->allow);
    if (!strstr(best->allow, method))
        snprintf(best->allow + used, sizeof best->allow - used, "%s%s", used ? ", " : "", method);
}

RouteMatch route_find(const Route *const *tables, const char *method, const char *path) {
    Match best = {0};
    char allow[64];
    if (!strcmp(method, "HEAD"))
        method = "GET";
    for (; *tables; tables++)
        for (const Route *route = *tables; route->method; route++) {
            Match match = {.out.route = route};
            if (!pattern_matches(&match, route->pattern, path))
                continue;
            allow_method(&best.out, route->method);
            bool better = !best.out.route || match.score > best.score;
            if (strcmp(method, route->method) != 0 || !better)
                continue;
            memcpy(allow, best.out.allow, sizeof allow);
            best = match;
            memcpy(best.out.allow, allow, sizeof allow);
        }
    return best.out;
}
