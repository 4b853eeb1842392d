// A UCI engine as a process: start, new game, one move, end. It keeps deadlines on the absolute
// clock, survives whatever the engine does, and knows nothing of games: that is match_game.h.
//
// An open struct, so that a slot can hold two of them and allocates nothing while it plays.
#pragma once

#include "worker/match/match.h"
#include "worker/os/cpu_time.h"
#include "worker/os/process.h"
#include "worker/uci/transcript.h"
#include "worker/uci/uci_reply.h"

// Longer lines lose their tail. Beyond the bytes for a command the engine is no longer read, and
// its deadline decides.
enum { ENGINE_LINE_MAX = 64 << 10, ENGINE_INFO_MAX = 4096, ENGINE_BYTES_MAX = 16 << 20 };

typedef enum {
    ENGINE_OK,
    ENGINE_TIMEOUT,   // the deadline passed
    ENGINE_GONE,      // ended, or closed a pipe
    ENGINE_CANCELLED, // cancel_fd became readable
    ENGINE_UNABLE,    // the system would not start a process, whatever its program
} EngineStatus;

// Who is told of every line, and what the line is said to be of.
typedef struct EngineLog {
    void (*on_line)(void *ctx, const MatchLine *line); // NULL: nobody
    void *ctx;
    int slot, engine;
    int64_t start_ns; // times count from here
} EngineLog;

typedef struct EngineProcess {
    OsProcess process;
    const EngineSpec *spec;         // what runs or ran last; NULL: nothing yet
    const EngineSpec *ignores_quit; // was seen not to end by itself
    EngineLog log;
    OsMeter meter;
    OsUsage used;       // when last read, at
    int64_t used_at_ns; // with
    bool worked_since;  // telling whether it has had something to do afterwards
    int cancel_fd;      // borrowed; makes every wait return. -1: none
    int watch, awaited; // epoll, and which of input and output it looks at; -1: neither
    int64_t read_at_ns; // stamped right after each read
    int64_t bytes_left; // of what the present command may say
    size_t chunk_at, chunk_size, partial_size;
    bool speaks_unasked;           // has been heard after its bestmove
    bool errors_open;              // its standard error is ours to read
    UciKind info_kind;             // the better of UCI_BOUND and UCI_SCORE seen in this search
    size_t info_size;              // of the last line of that kind
    int64_t go_ns, deadline_ns;    // of the present search
    char chunk[ENGINE_LINE_MAX];   // as read; lines up to chunk_at are dealt with
    char partial[ENGINE_LINE_MAX]; // a line whose end has not come yet
    char info[ENGINE_INFO_MAX];
    Tail protocol_log, errors; // of this process and, after its end, until the next one
} EngineProcess;

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
