// perft_suite FILE [--max-nodes N] [--max-depth D] [--threads T]: counts the move trees of an EPD
// file whose operations D1 to D9 hold the right numbers (";D1 20 ;D2 400"), and prints TAP: one
// line for each depth of the file, and for each position that is wrong.

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/rules/movegen.h"
#include "engine/rules/pgn.h"

enum { DEPTHS = 9, LINE_MAX_BYTES = 1024, THREADS_MAX = 64 };

typedef struct Suite {
    char (*lines)[LINE_MAX_BYTES];
    int count;
    uint64_t max_nodes;
    int max_depth;
    atomic_int next; // line to be taken by a thread
    atomic_int right[DEPTHS + 1], wrong[DEPTHS + 1], left_out[DEPTHS + 1];
    atomic_int unread;
    _Atomic uint64_t nodes;
} Suite;

static bool read_expected(const char *ops, int depth, uint64_t *out) {
    char name[3] = {'D', (char)('0' + depth), '\0'}, text[24];
    if (!epd_operation(ops, name, text, sizeof text))
        return false;
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return end != text && !*end && !errno;
}

static void count_depth(Suite *suite, const char *line, Position *pos, int depth,
                        uint64_t expected) {
    if (depth > suite->max_depth || expected > suite->max_nodes) {
        suite->left_out[depth]++;
        return;
    }
    uint64_t nodes = perft(pos, depth);
    suite->nodes += nodes;
    if (nodes == expected) {
        suite->right[depth]++;
        return;
    }
    suite->wrong[depth]++;
    printf("# depth %d: %" PRIu64 " instead of %" PRIu64 ": %s", depth, nodes, expected, line);
}

static void count_line(Suite *suite, const char *line) {
    Position pos;
    Refusal err;
    const char *ops;
    bool any = false;
    if (!epd_read(line, false, &pos, &ops, &err)) {
        printf("# %s: %s", err.message, line);
        suite->unread++;
        return;
    }
    for (int depth = 1; depth <= DEPTHS; depth++) {
        uint64_t expected;
        if (!read_expected(ops, depth, &expected))
            continue;
        any = true;
        count_depth(suite, line, &pos, depth, expected);
    }
    suite->unread += !any;
}

static void *count_lines(void *context) {
    Suite *suite = context;
    for (int i; (i = suite->next++) < suite->count;)
        count_line(suite, suite->lines[i]);
    return NULL;
}

static bool load(Suite *suite, const char *path) {
    FILE *file = fopen(path, "r");
    char line[LINE_MAX_BYTES];
    if (!file) {
        printf("Bail out! %s: %s\n", path, strerror(errno));
        return false;
    }
    while (fgets(line, sizeof line, file)) {
        if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
            continue;
        if (suite->count % 256 == 0)
            suite->lines = realloc(suite->lines, (size_t)(suite->count + 256) * sizeof line);
        if (!suite->lines)
            abort();
        memcpy(suite->lines[suite->count++], line, sizeof line);
    }
    fclose(file);
    return true;
}

static void run_threads(Suite *suite, int threads) {
    pthread_t ids[THREADS_MAX];
    int started = 0;
    while (started < threads - 1 && !pthread_create(&ids[started], NULL, count_lines, suite))
        started++;
    count_lines(suite);
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
}

// One TAP line for each depth that was counted, and one for the file itself.
static int report(Suite *suite, const char *path) {
    int tests = 1, failed = suite->unread || suite->count == 0;
    printf("%sok 1 - %s: all %d positions are read\n", failed ? "not " : "", path, suite->count);
    for (int depth = 1; depth <= DEPTHS; depth++) {
        int right = suite->right[depth], wrong = suite->wrong[depth];
        if (right + wrong == 0)
            continue;
        failed += wrong > 0;
        printf("%sok %d - depth %d: %d of %d positions exact", wrong ? "not " : "", ++tests, depth,
               right, right + wrong);
        if (suite->left_out[depth])
            printf(", %d beyond the limits", suite->left_out[depth]);
        putchar('\n');
    }
    printf("1..%d\n# %" PRIu64 " leaf nodes\n", tests, suite->nodes);
    return failed ? 1 : 0;
}

static int usage(void) {
    fprintf(stderr, "usage: perft_suite FILE [--max-nodes N] [--max-depth D] [--threads T]\n");
    return 2;
}

int main(int argc, char **argv) {
    Suite suite = {.max_nodes = UINT64_MAX, .max_depth = DEPTHS};
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    if (argc < 2 || argc % 2)
        return usage();
    for (int i = 2; i < argc; i += 2) {
        if (strcmp(argv[i], "--max-nodes") == 0)
            suite.max_nodes = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--max-depth") == 0)
            suite.max_depth = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--threads") == 0)
            threads = strtol(argv[i + 1], NULL, 10);
        else
            return usage();
    }
    rules_init();
    if (!load(&suite, argv[1]))
        return 1;
    run_threads(&suite, (int)(threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads));
    int status = report(&suite, argv[1]);
    free(suite.lines);
    return status;
}
