// See str.h.
#include "server/common/str.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Does not use the log: that module is built on this one and needs memory.
_Noreturn static void out_of_memory(void) {
    static const char text[] = "out of memory\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    exit(EXIT_FAILURE);
}

void *xmalloc(size_t size) {
    return xrealloc(NULL, size);
}

void *xcalloc(size_t count, size_t size) {
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

void *xrealloc(void *p, size_t size) {
    p = realloc(p, size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

char *xstrdup(const char *text) {
    return xstrndup(text, strlen(text));
}

char *xstrndup(const char *text, size_t size) {
    char *copy = xmalloc(size + 1);
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

char *xasprintf(const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        out_of_memory();
    va_end(args);
    return text;
}

void free_ptr(void *p) {
    free(*(void **)p);
}

void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
}

void str_init(Str *s, size_t max) {
    *s = (Str){.data = xmalloc(1), .capacity = 1, .max = max};
    s->data[0] = 0;
}

void str_release(Str *s) {
    free(s->data);
    *s = (Str){0};
}

void str_clear(Str *s) {
    s->size = 0;
    s->overflow = false;
    s->data[0] = 0;
}

void str_add(Str *s, const void *bytes, size_t size) {
    if (size > s->max - s->size) {
        size = s->max - s->size;
        s->overflow = true;
    }
    if (s->size + size + 1 > s->capacity) {
        size_t wanted = (s->size + size + 1) * 3 / 2;
        s->capacity = wanted > s->max + 1 ? s->max + 1 : wanted;
        s->data = xrealloc(s->data, s->capacity);
    }
    if (size)
        memcpy(s->data + s->size, bytes, size);
    s->size += size;
    s->data[s->size] = 0;
}

void str_puts(Str *s, const char *text) {
    str_add(s, text, strlen(text));
}

void str_putc(Str *s, char c) {
    str_add(s, &c, 1);
}

void str_printf(Str *s, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        out_of_memory();
    str_add(s, text, (size_t)n);
    free(text);
}

char *str_steal(Str *s) {
    char *data = s->data;
    *s = (Str){0};
    return data;
}

bool parse_long(const char *text, long low, long high, long *out) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < low || value > high || *text == ' ')
        return false;
    *out = value;
    return true;
}

bool parse_double(const char *text, double low, double high, double *out) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(value) || value < low || value > high)
        return false;
    *out = value;
    return true;
}
