// What is kept of an engine's process. An open struct, so that a slot can hold two of them and
// allocates nothing while it plays. Its functions stand in engine_process.h and engine_pipe.h.
#pragma once

#include "worker/os/cpu_time.h"
#include "worker/os/process.h"
#include "worker/uci/engine_spec.h"
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
    void (*on_line)(void *ctx, const MatchLine *line); // NULL: no log
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
