// See bench_output.h.
#include "worker/build/bench_output.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const int64_t nodes_max = (int64_t)1 << 53;

// The number after "<name> :" at the start of a line; -1 when the line is another or holds none.
static int64_t line_value(const char *line, size_t size, const char *name) {
    size_t n = strlen(name), i = n;
    if (size < n || strncasecmp(line, name, n) != 0)
        return -1;
    while (i < size && (line[i] == ' ' || line[i] == '\t'))
        i++;
    if (i == size || (line[i] != ':' && line[i] != '='))
        return -1;
    i++;
    while (i < size && (line[i] == ' ' || line[i] == '\t'))
        i++;
    int64_t value = -1;
    for (; i < size && isdigit((unsigned char)line[i]); i++) {
        value = (value < 0 ? 0 : value) * 10 + (line[i] - '0');
        if (value > nodes_max)
            return -1;
    }
    return value;
}

bool bench_read(const char *output, size_t size, Bench *out, Error *err) {
    *out = (Bench){0};
    for (size_t start = 0; start < size;) {
        const char *line = output + start;
        const char *newline = memchr(line, '\n', size - start);
        size_t length = newline ? (size_t)(newline - line) : size - start;
        int64_t nodes = line_value(line, length, "Nodes searched");
        int64_t speed = line_value(line, length, "Nodes/second");
        if (nodes > 0)
            out->nodes = nodes;
        if (speed > 0)
            out->speed = (double)speed;
        start += length + 1;
    }
    return out->nodes > 0 ||
           error_set(err, 422, "no_bench", "bench printed no line 'Nodes searched  : N'");
}
