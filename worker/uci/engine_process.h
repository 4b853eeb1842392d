// A UCI engine as a process: start, new game, one move, end. It keeps deadlines on the absolute
// clock, survives whatever the engine does, and knows nothing of games: that is worker/match.
#pragma once

#include "worker/uci/engine_state.h"

typedef struct EngineReply {
    char move[UCI_WORD_MAX]; // as written; "" where bestmove named none
    int64_t elapsed_ns;      // from just before the write to just after the read of the newline
    UciInfo info;
} EngineReply;

static inline bool engine_is_up(const EngineProcess *engine) {
    return engine->process.pid != 0;
}
// Starts the program and sets its options; within `timeout_ms` it must answer uci and isready.
// Anything but ENGINE_OK fills `err`, names the engine, and leaves no process. `engine` is zeroed
// or stopped, but for its log; `spec` says what to run.
EngineStatus engine_start(EngineProcess *engine, const EngineSpec *spec, bool chess960,
                          int timeout_ms, int cancel_fd, Error *err);
EngineStatus engine_new_game(EngineProcess *engine, int timeout_ms);
// Sends `text` ("position …\ngo …\n") in one write and waits for bestmove at most `limit_ns`.
EngineStatus engine_go(EngineProcess *engine, const char *text, size_t size, int64_t limit_ns,
                       EngineReply *reply);
// Waits for another bestmove in the same search, after one that cannot have been meant for it.
EngineStatus engine_go_on(EngineProcess *engine, EngineReply *reply);
// After ENGINE_TIMEOUT: gives the same search `more_ns` after its deadline to answer all the same.
EngineStatus engine_go_late(EngineProcess *engine, int64_t more_ns, EngineReply *reply);
// A remark of the referee's in the transcript.
void engine_remark(EngineProcess *engine, const char *text);
// Says quit, waits at most that long for the end, then kills. No process is left.
void engine_quit(EngineProcess *engine, int patience_ms);
void engine_kill(EngineProcess *engine);
