// A UCI engine as a process: start, new game, one move, end. Deadlines are absolute times. Whatever
// an engine does wrong becomes an EngineStatus. Games are in worker/match.
#pragma once

#include "worker/uci/engine_state.h"

typedef struct EngineReply {
    char move[UCI_WORD_MAX]; // as the engine wrote it; "" for a bestmove without a move
    int64_t elapsed_ns;      // from just before the write to just after the read of the newline
    UciInfo info;
} EngineReply;

static inline bool engine_is_up(const EngineProcess *engine) {
    return engine->process.pid != 0;
}
// Starts the program of `spec` and sets its options; within `timeout_ms` it must answer uci and
// isready. `engine` must be zeroed (except for its log) or stopped. If the result is not ENGINE_OK,
// `err` is set and names the engine, and no process is left.
EngineStatus engine_start(EngineProcess *engine, const EngineSpec *spec, bool chess960,
                          int timeout_ms, int cancel_fd, Error *err);
EngineStatus engine_new_game(EngineProcess *engine, int timeout_ms);
// Sends `text` ("position …\ngo …\n") in one write and waits at most `limit_ns` for bestmove.
EngineStatus engine_go(EngineProcess *engine, const char *text, size_t size, int64_t limit_ns,
                       EngineReply *reply);
// Waits for another bestmove in the same search, after one that cannot be the answer to it.
EngineStatus engine_go_on(EngineProcess *engine, EngineReply *reply);
// After ENGINE_TIMEOUT: waits for the answer of the same search until `more_ns` after its deadline.
EngineStatus engine_go_late(EngineProcess *engine, int64_t more_ns, EngineReply *reply);
// Adds a remark of the referee to the transcript.
void engine_remark(EngineProcess *engine, const char *text);
// Sends quit, waits at most `patience_ms` for the end, then kills the engine. No process is left.
void engine_quit(EngineProcess *engine, int patience_ms);
void engine_kill(EngineProcess *engine);
