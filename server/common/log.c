// See log.h.
#include "server/common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/common/visible.h"

enum { LINE_ROOM = 4096 };

static LogLevel log_level = LOG_LEVEL_INFO;
static const char *log_prefix = "";

void log_set_level(LogLevel level) {
    log_level = level;
}

void log_set_prefix(const char *prefix) {
    log_prefix = prefix;
}

static size_t log_stamp(char *out, size_t size) {
    if (getenv("JOURNAL_STREAM"))
        return 0;
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(out, size, "%Y-%m-%d %H:%M:%S", &utc);
    return n + (size_t)snprintf(out + n, size - n, ".%03ld ", now.tv_nsec / 1000000);
}

// Messages quote servers, engines and files. No quoted text may control a terminal or look like a
// line of its own.
static void log_line(LogLevel level, const char *format, va_list args) {
    static const char *const names[] = {"debug", "info ", "warn ", "error"};
    char message[LINE_ROOM], line[LINE_ROOM];
    size_t n = (size_t)snprintf(line, sizeof line, "%s", log_prefix);
    n += log_stamp(line + n, sizeof line - n);
    n += (size_t)snprintf(line + n, sizeof line - n, "%s ", names[level]);
    vsnprintf(message, sizeof message, format, args);
    n += visible_copy(line + n, sizeof line - n, message, strlen(message), false);
    line[n++] = '\n'; // replaces the NUL
    if (write(STDERR_FILENO, line, n) < 0)
        return; // the failure cannot be reported anywhere
}

void log_write(LogLevel level, const char *format, ...) {
    if (level < log_level)
        return;
    va_list args;
    va_start(args, format);
    log_line(level, format, args);
    va_end(args);
}

void fatal(const char *format, ...) {
    va_list args;
    va_start(args, format);
    log_line(LOG_LEVEL_ERROR, format, args);
    va_end(args);
    exit(EXIT_FAILURE);
}
