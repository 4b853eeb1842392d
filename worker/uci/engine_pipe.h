// The pipes between the runner and an engine: lines in, text out, standard error drained beside
// them, and every line noted. For engine_process.c alone.
#pragma once

#include "worker/uci/engine_state.h"

typedef struct Line {
    const char *text;
    size_t size;
} Line;

// On a process just spawned. False: the system has nothing left to wait with.
bool pipe_open(EngineProcess *engine);
void pipe_close(EngineProcess *engine);
// The next whole line of what was read; false when there is none, its beginning is then kept.
// Valid until the next call.
bool pipe_next_line(EngineProcess *engine, Line *line);
// Waits for output and reads it. What arrives after the deadline is as good as nothing.
EngineStatus pipe_read_more(EngineProcess *engine, int64_t deadline_ns);
EngineStatus pipe_send(EngineProcess *engine, const char *text, size_t size, int64_t deadline_ns);
// Notes the lines of a text that is about to be sent.
void pipe_note_sent(EngineProcess *engine, const char *text, size_t size, int64_t now_ns);
// Throws away whatever was said since the last answer.
EngineStatus pipe_drain(EngineProcess *engine);
// Reads and throws away until the engine has ended; false where it has not when the time is up.
bool pipe_drain_to_end(EngineProcess *engine, int64_t deadline_ns);
// What standard error still holds, without waiting.
void pipe_read_last_errors(EngineProcess *engine);
