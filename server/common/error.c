// See error.h.
#include "server/common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void error_fill(Error *err, int status, const char *code, const char *field) {
    err->status = status;
    snprintf(err->code, sizeof err->code, "%s", code);
    snprintf(err->field, sizeof err->field, "%s", field);
}

bool error_set(Error *err, int status, const char *code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_fill(err, status, code, "");
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return false;
}

bool error_field(Error *err, int status, const char *code, const char *field, const char *format,
                 ...) {
    va_list args;
    va_start(args, format);
    error_fill(err, status, code, field);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return false;
}

bool error_errno(Error *err, const char *format, ...) {
    int saved = errno;
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    bool full = saved == ENOSPC || saved == EDQUOT || saved == EFBIG;
    error_fill(err, full ? 503 : 500, full ? "disk_full" : "system", "");
    snprintf(err->message, sizeof err->message, "%s: %s", what, strerror(saved));
    return false;
}

bool error_prefix(Error *err, const char *format, ...) {
    char old[sizeof err->message], prefix[256];
    va_list args;
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    memcpy(old, err->message, sizeof old);
    snprintf(err->message, sizeof err->message, "%s: %.*s", prefix,
             (int)(sizeof err->message - sizeof prefix - 3), old);
    return false;
}
