// Fills a Refusal.

#include "rules/error.h"

#include <stdarg.h>
#include <stdio.h>

bool refused(Refusal *err, const char *format, ...) {
    if (!err)
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return false;
}
