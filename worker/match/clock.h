// Clocks of a game and the commands that tell an engine of them.
#pragma once

#include "engine/rules/notation.h"
#include "worker/match/match_spec.h"

typedef struct Clock {
    const MatchLimit *limit; // borrowed
    int64_t left_ns;
    int moves; // made
} Clock;

void clock_init(Clock *clock, const MatchLimit *limit);
// Whether time decides how long this side may think; else only patience does.
bool clock_is_timed(const Clock *clock);
// How long it may think now before it has lost, margin included.
int64_t clock_allowed_ns(const Clock *clock);
// For a move made in time: what the margin forgave is not owed.
void clock_charge(Clock *clock, int64_t elapsed_ns);

// "position …" and "go …" in one text, which grows by one move a ply.
enum { COMMAND_MAX = FEN_MAX + 64 + GAME_PLIES_MAX * 6 + 256 };
typedef struct Command {
    size_t position_size; // "position … moves …" without its newline
    char text[COMMAND_MAX];
} Command;

void command_start(Command *command, const Position *start);
// `first`: no move was added before. `move` as UCI writes it.
void command_add_move(Command *command, bool first, const char *move);
// "\ngo …\n" behind the position; returns the size of the whole.
size_t command_add_go(Command *command, const Clock clocks[COLOR_NB], Color side);
