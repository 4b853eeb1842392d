// The clocks of a game, and the commands that send them to an engine.
#pragma once

#include "engine/rules/notation.h"
#include "worker/match/match_spec.h"

typedef struct Clock {
    const MatchLimit *limit; // borrowed
    int64_t left_ns;         // below 0: owed
    int64_t owed_ns;         // by earlier moves to `move_ms` of this one
    int moves;               // made
} Clock;

void clock_init(Clock *clock, const MatchLimit *limit);
// Whether this side can lose on time. If not, only a stall limit ends its thinking.
bool clock_is_timed(const Clock *clock);
// The time after which this side has lost its present move, with the margin included.
int64_t clock_allowed_ns(const Clock *clock);
// Subtracts the time of a move that was made in time. Time within the margin is subtracted from
// later moves if the limit says so (MatchLimit.owed).
void clock_charge(Clock *clock, int64_t elapsed_ns);

// "position …" and "go …" in one text. It grows by one move in each ply.
enum { COMMAND_MAX = FEN_MAX + 64 + GAME_PLIES_MAX * 6 + 256 };
typedef struct Command {
    size_t position_size; // "position … moves …" without its newline
    char text[COMMAND_MAX];
} Command;

void command_start(Command *command, const Position *start);
// `first`: no move was added before. `move` is in UCI notation.
void command_add_move(Command *command, bool first, const char *move);
// Adds "\ngo …\n" after the position. Returns the size of the whole text.
size_t command_add_go(Command *command, const Clock clocks[COLOR_NB], Color side);
