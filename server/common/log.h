// Log lines on standard error: "2026-01-31 12:00:00.123 info  message". Several threads may log:
// each line is one write. A message is one line: control characters, newlines included, are written
// as escapes (visible.h). Under systemd (JOURNAL_STREAM is set) the line has no time, because the
// journal adds one.
#pragma once

typedef enum { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR } LogLevel;

void log_set_level(LogLevel level);
// Bytes that are written before every line, for a terminal that shows a status line; borrowed.
void log_set_prefix(const char *prefix);
void log_write(LogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warn(...) log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)

// For failures after which the program cannot continue: a start that fails, a broken invariant.
// Exit status 1.
void fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
