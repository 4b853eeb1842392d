// The state of an engine's process. An open struct, so that a slot can hold two of them and
// allocates nothing while it plays. Its functions are in engine_process.h and engine_pipe.h.
#pragma once

#include "worker/os/cpu_time.h"
#include "worker/os/process.h"
#include "worker/uci/engine_spec.h"
#include "worker/uci/transcript.h"
#include "worker/uci/uci_reply.h"

// The end of a line longer than ENGINE_LINE_MAX is dropped. After ENGINE_BYTES_MAX bytes for one
// command the runner stops reading, and waits for the deadline.
enum { ENGINE_LINE_MAX = 64 << 10, ENGINE_INFO_MAX = 4096, ENGINE_BYTES_MAX = 16 << 20 };

typedef enum {
    ENGINE_OK,
    ENGINE_TIMEOUT,   // the deadline passed
    ENGINE_GONE,      // the process ended or closed a pipe
    ENGINE_CANCELLED, // cancel_fd became readable
    ENGINE_UNABLE,    // the system cannot start any process now
} EngineStatus;

// The function that receives every line, and the values of MatchLine that it gets.
typedef struct EngineLog {
    void (*on_line)(void *ctx, const MatchLine *line); // NULL: no log
    void *ctx;
    int slot, engine;
    int64_t start_ns; // times count from here
} EngineLog;

typedef struct EngineProcess {
    OsProcess process;
    const EngineSpec *spec;         // the engine that runs or ran last; NULL: none yet
    const EngineSpec *ignores_quit; // an engine that did not end after quit; NULL: none
    EngineLog log;
    OsMeter meter;
    int64_t delay_ns;    // of `meter` when it was read last
    int64_t delay_at_ns; // time of that reading
    bool worked_since;   // the engine has had work since that reading
    int64_t cpu_ns;      // its CPU time when that was read last; -1: not known
    int64_t cpu_at_ns;   // time of that reading
    int64_t own_ns;      // CPU time of its own moves since that reading
    int cancel_fd;       // borrowed; when it is readable, every wait returns. -1: none
    int watch, awaited;  // epoll descriptor; which of input and output it watches, -1: neither
    int64_t read_at_ns;  // time right after the last read
    int64_t bytes_left;  // how many bytes the engine may still write for the current command
    size_t chunk_at, chunk_size, partial_size;
    bool speaks_unasked;           // it has written lines after its bestmove
    bool errors_open;              // its standard error can still be read
    UciKind info_kind;             // the best kind in this search: UCI_SCORE, UCI_BOUND, UCI_OTHER
    size_t info_size;              // of the last line of that kind
    size_t later_size;             // of a line after it that tells another PV; 0: none
    bool has_depth;                // a line of this search told a depth
    int64_t go_ns, deadline_ns;    // of the current search
    char chunk[ENGINE_LINE_MAX];   // the last read; lines before chunk_at have been returned
    char partial[ENGINE_LINE_MAX]; // a line whose end has not been read yet
    char info[ENGINE_INFO_MAX], later[ENGINE_INFO_MAX];
    Tail protocol_log, errors; // of this process; kept after its end until the next start
} EngineProcess;
