// What a UCI engine is to the code that starts it: its command, options and limits; and how its scores and
// the lines of its conversation are told.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/os/limits.h"

typedef struct EngineOption {
    const char *name, *value;
} EngineOption;

// A limit may be combined as UCI allows. All zero: infinite thinking is refused.
typedef struct MatchLimit {
    int64_t base_ms, increment_ms; // clock; base_ms 0: no clock
    int moves_to_go;               // moves a period, 0: whole game
    int64_t move_ms;               // st=
    int64_t nodes;
    int depth;
    int64_t margin_ms; // forgiven before a flag falls
    int64_t stall_ms;  // longest wait for a move that no clock limits; 0: five minutes
} MatchLimit;

// Borrowed by the match for as long as it runs.
typedef struct EngineSpec {
    const char *name;
    const char *const *argv; // full command, NULL-terminated; a sandbox is simply a prefix of it
    const char *directory;   // to start in; NULL: the runner's own
    const EngineOption *options;
    int option_count;
    const char *init;       // more lines for it after its options, each with a newline; NULL: none
    int threads;            // CPUs the engine needs
    bool restart;           // a process a game
    const OsLimits *limits; // of the process and all it starts; NULL: none
    MatchLimit limit;
} EngineSpec;

// Centipawns beyond SCORE_CP_MAX are cut to it, so that a larger score is a mate.
enum { SCORE_NONE = INT32_MIN, SCORE_MATE = 1000000, SCORE_CP_MAX = 900000 };
static inline bool score_is_mate(int32_t score) {
    return score > SCORE_CP_MAX || (score < -SCORE_CP_MAX && score != SCORE_NONE);
}

typedef enum { LINE_TO_ENGINE, LINE_FROM_ENGINE, LINE_ERROR } MatchLineKind;
typedef struct MatchLine {
    MatchLineKind kind;
    int slot, engine;
    int64_t time_us;  // since the match began
    const char *text; // without its newline
    size_t size;
    bool open; // LINE_ERROR: the newline has not come; what follows belongs to the same line
} MatchLine;
