// How a function reports an error that may happen in normal use: it returns false or NULL
// and fills an Error that its caller owns. `code` is stable and for programs (empty means
// internal), `message` is a sentence for people, `field` names the form field or JSON member that
// is wrong, if there is one.
#pragma once

#include <stdbool.h>

typedef struct Error {
    int status; // the HTTP status; 0 means 500
    char code[48];
    char field[48];
    char message[1024];
} Error;

// Fill `err` and return false, so that `return error_set(…);` reads well.
bool error_set(Error *err, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool error_field(Error *err, int status, const char *code, const char *field, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
// The text and what the operating system said about the last call: "<text>: <strerror>". Status
// 500, or 503 "disk_full" if there is no room (a state that passes).
bool error_errno(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Puts "<text>: " before the message: the context that a caller adds. Returns false.
bool error_prefix(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
