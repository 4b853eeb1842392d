// What a match and its engines said, written down: -log, -debug, and each engine's stderr=.
#pragma once

#include <pthread.h>
#include <zlib.h>

#include "server/common/log.h"
#include "worker/match_cli/args.h"

typedef struct MatchLog {
    const MatchArgs *args;
    gzFile file; // NULL: no -log; not packed unless asked for
    int *errors; // by engine: descriptor of its stderr=, or -1
    pthread_mutex_t lock;
} MatchLog;

bool match_log_open(MatchLog *log, const MatchArgs *args, Error *err);
void match_log_close(MatchLog *log);
// Whether lines of conversations are wanted (MatchSpec.on_line).
bool match_log_wants_lines(const MatchLog *log);
// From any thread, several at a time.
void match_log_line(MatchLog *log, const MatchLine *line);
// What the runner itself has to say.
void match_log_say(MatchLog *log, LogLevel level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
