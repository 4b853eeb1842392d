// What the runner needs to start a UCI engine: its command, options and limits. Also the encoding
// of its scores, and the lines to and from it, for logs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/os/limits.h"

typedef struct EngineOption {
    const char *name, *value;
} EngineOption;

// Limits may be combined, as in UCI. At least one must be set: infinite thinking is not allowed.
typedef struct MatchLimit {
    int64_t base_ms, increment_ms; // clock; base_ms 0: no clock
    int moves_to_go;               // moves per period; 0: the whole game
    int64_t move_ms;               // st=
    int64_t nodes;
    int depth;
    // `margin_ms`: by how much a move may exceed the clock without a loss on time. `owed`: later
    // moves have that time less, so that the whole game is at most one margin longer; else it is
    // forgiven.
    bool owed;
    int64_t margin_ms;
    int64_t stall_ms; // longest wait for a move without a time limit; 0: five minutes
} MatchLimit;

// The match borrows it for as long as it runs.
typedef struct EngineSpec {
    const char *name;
    const char *const *argv; // full command, NULL-terminated; the command of a sandbox comes first
    const char *directory;   // to start in; NULL: that of the runner
    const EngineOption *options;
    int option_count;
    const char *init;       // more lines to send after the options, each with a newline; NULL: none
    int threads;            // CPUs that the engine needs
    bool restart;           // a new process for each game
    const OsLimits *limits; // of the process and its descendants; NULL: none
    MatchLimit limit;
} EngineSpec;

// Scores in centipawns are limited to ±UCI_SCORE_CP_MAX, so that a larger score is a mate.
enum { UCI_SCORE_NONE = INT32_MIN, UCI_SCORE_MATE = 1000000, UCI_SCORE_CP_MAX = 900000 };
static inline bool uci_score_is_mate(int32_t score) {
    return score > UCI_SCORE_CP_MAX || (score < -UCI_SCORE_CP_MAX && score != UCI_SCORE_NONE);
}

typedef enum { LINE_TO_ENGINE, LINE_FROM_ENGINE, LINE_ERROR } MatchLineKind;
typedef struct MatchLine {
    MatchLineKind kind;
    int slot, engine;
    int64_t time_us;  // since the match began
    const char *text; // without its newline
    size_t size;
    bool open; // LINE_ERROR: the line is not complete; the next text continues it
} MatchLine;
