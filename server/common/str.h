// A growing byte string, always NUL-terminated. Its maximum size is given when it is made.
// Appending more keeps the part that fits and sets `overflow`, which the caller may check.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Str {
    char *data; // never NULL after str_init
    size_t size, capacity, max;
    bool overflow;
} Str;

void str_init(Str *s, size_t max);
void str_release(Str *s);
void str_clear(Str *s);
void str_add(Str *s, const void *bytes, size_t size);
void str_puts(Str *s, const char *text);
void str_putc(Str *s, char c);
void str_printf(Str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The bytes as malloc'ed memory that the caller frees; the Str is released.
char *str_steal(Str *s);

// malloc and friends that end the program when memory is out.
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t size);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

// scope(fn): fn(&variable) runs when the variable leaves its block.
#define scope(fn) __attribute__((cleanup(fn)))
void free_ptr(void *p); // for scope(): frees the pointer that `p` points to
void close_fd(int *fd); // for scope(): closes if >= 0

// Whole numbers and decimals. The text holds nothing else. False unless low <= value <= high.
bool parse_long(const char *text, long low, long high, long *out);
bool parse_double(const char *text, double low, double high, double *out);
