// See log.h.
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static LogLevel log_level = LOG_LEVEL_INFO;
static const char *log_prefix = "";

void log_set_level(LogLevel level) {
    log_level = level;
}

void log_set_prefix(const char *prefix) {
    log_prefix = prefix;
}

static int log_stamp(char *out, size_t size) {
    if (getenv("JOURNAL_STREAM"))
        return 0;
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(out, size, "%Y-%m-%d %H:%M:%S", &utc);
    return (int)n + snprintf(out + n, size - n, ".%03ld ", now.tv_nsec / 1000000);
}

// Messages quote servers, engines and files: none of them may steer a terminal.
static void tame(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 32 ? *text != '\n' && *text != '\t' : *text == 127)
            *text = '?';
}

static void log_line(LogLevel level, const char *format, va_list args) {
    static const char *const names[] = {"debug", "info ", "warn ", "error"};
    char line[4096];
    const int size = sizeof line - 1; // room for the newline
    int n = snprintf(line, sizeof line, "%s", log_prefix);
    n += log_stamp(line + n, sizeof line - (size_t)n);
    n += snprintf(line + n, sizeof line - (size_t)n, "%s ", names[level]);
    int start = n;
    n += vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    tame(line + start);
    if (n > size - 1)
        n = size - 1;
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return; // nowhere left to say so
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
