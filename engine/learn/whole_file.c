// Reads until the end instead of asking for the size, so that pipes work as well.
#include "learn/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/error.h"

// Reads to the end of `in`, but at most one byte more than `size_max`. NULL: out of memory.
static char *stream_read(FILE *in, size_t size_max, size_t *size) {
    char *text = NULL;
    size_t room = 1 << 14;
    *size = 0;
    do {
        room *= 4;
        char *longer = realloc(text, room + 1);
        if (!longer) {
            free(text);
            return NULL;
        }
        text = longer;
        *size += fread(text + *size, 1, room - *size, in);
    } while (*size == room && room <= size_max);
    text[*size] = '\0';
    return text;
}

char *whole_file_read(const char *path, size_t size_max, size_t *size, Refusal *err) {
    FILE *in = fopen(path, "rb");
    if (!in) {
        refused(err, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    char *text = stream_read(in, size_max, size);
    bool is_good = text && !ferror(in) && *size <= size_max;
    if (!text)
        refused(err, "out of memory");
    else if (ferror(in))
        refused(err, "cannot be read: %s", strerror(errno));
    else if (!is_good)
        refused(err, "the file is larger than %zu MB", size_max >> 20);
    fclose(in);
    if (is_good)
        return text;
    free(text);
    return NULL;
}
