// The logs of a match: -log, -debug, and stderr= of each engine.
#pragma once

#include <pthread.h>
#include <zlib.h>

#include "server/common/log.h"
#include "worker/match_cli/args.h"

typedef struct MatchLog {
    const MatchArgs *args;
    gzFile file; // NULL: no -log; compressed only with compress=true
    int *errors; // by engine: the descriptor of its stderr=, or -1
    pthread_mutex_t lock;
} MatchLog;

bool match_log_open(MatchLog *log, const MatchArgs *args, Error *err);
void match_log_close(MatchLog *log);
// Whether a log needs the lines to and from the engines (MatchSpec.on_line).
bool match_log_wants_lines(const MatchLog *log);
// Any thread may call it, several at the same time.
void match_log_line(MatchLog *log, const MatchLine *line);
// Logs a message of the runner itself.
void match_log_say(MatchLog *log, LogLevel level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
