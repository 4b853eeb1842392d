// Log lines on standard error: "2026-01-31 12:00:00.123 info  message". Safe from several threads
// (one write a line). A message is one line: what would act in a terminal, newlines too, is written
// out (visible.h). Under systemd (JOURNAL_STREAM set) the time is left to the journal.
#pragma once

typedef enum { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR } LogLevel;

void log_set_level(LogLevel level);
// Bytes before every line, for a terminal whose last line is in use; borrowed.
void log_set_prefix(const char *prefix);
void log_write(LogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warn(...) log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)

// For what cannot be gone on from: a start that fails, a broken invariant. Exit status 1.
void fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
