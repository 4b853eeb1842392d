// The pipes between the runner and an engine: reads lines, writes text, reads standard error at the
// same time, and logs every line. For engine_process.c alone.
#pragma once

#include "worker/uci/engine_state.h"

typedef struct Line {
    const char *text;
    size_t size;
} Line;

// Call it on a process that was just started. False: the system could not make an epoll descriptor.
bool pipe_open(EngineProcess *engine);
void pipe_close(EngineProcess *engine);
// The next complete line of the bytes read so far, valid until the next call. False: there is none;
// the beginning of a line is kept.
bool pipe_next_line(EngineProcess *engine, Line *line);
// Waits for output and reads it. Output that arrives after the deadline gives ENGINE_TIMEOUT.
EngineStatus pipe_read_more(EngineProcess *engine, int64_t deadline_ns);
EngineStatus pipe_send(EngineProcess *engine, const char *text, size_t size, int64_t deadline_ns);
// Logs the lines of a text that is about to be sent.
void pipe_note_sent(EngineProcess *engine, const char *text, size_t size, int64_t now_ns);
// Reads and discards the output since the last answer.
EngineStatus pipe_drain(EngineProcess *engine);
// Reads and discards output until the engine has ended. False: it has not ended at the deadline.
bool pipe_drain_to_end(EngineProcess *engine, int64_t deadline_ns);
// Reads the rest of standard error without waiting.
void pipe_read_last_errors(EngineProcess *engine);
