// See clock.h.
#include "worker/match/clock.h"

#include <stdio.h>
#include <string.h>

enum { STALL_DEFAULT_MS = 5 * 60 * 1000 };

// ---- clocks -------------------------------------------------------------------------------------

static bool has_clock(const MatchLimit *limit) {
    return limit->base_ms > 0 || limit->increment_ms > 0;
}

void clock_init(Clock *clock, const MatchLimit *limit) {
    *clock = (Clock){.limit = limit, .left_ns = (limit->base_ms + limit->increment_ms) * 1000000};
}

bool clock_is_timed(const Clock *clock) {
    return has_clock(clock->limit) || clock->limit->move_ms > 0;
}

static int64_t move_ns(const Clock *clock) {
    return clock->limit->move_ms * 1000000 - clock->owed_ns;
}

int64_t clock_allowed_ns(const Clock *clock) {
    const MatchLimit *limit = clock->limit;
    int64_t stall_ms = limit->stall_ms ? limit->stall_ms : STALL_DEFAULT_MS;
    int64_t allowed = clock_is_timed(clock) ? INT64_MAX / 4 : stall_ms * 1000000;
    if (has_clock(limit) && clock->left_ns < allowed)
        allowed = clock->left_ns;
    if (limit->move_ms > 0 && move_ns(clock) < allowed)
        allowed = move_ns(clock);
    return allowed + (clock_is_timed(clock) ? limit->margin_ms * 1000000 : 0);
}

void clock_charge(Clock *clock, int64_t elapsed_ns) {
    const MatchLimit *limit = clock->limit;
    int64_t over_ns = elapsed_ns - move_ns(clock);
    clock->owed_ns = limit->owed && limit->move_ms > 0 && over_ns > 0 ? over_ns : 0;
    clock->moves++;
    clock->left_ns -= elapsed_ns;
    if (clock->left_ns < 0 && !limit->owed)
        clock->left_ns = 0;
    clock->left_ns += limit->increment_ms * 1000000;
    if (limit->moves_to_go && clock->moves % limit->moves_to_go == 0)
        clock->left_ns += limit->base_ms * 1000000;
}

// ---- commands -----------------------------------------------------------------------------------

void command_start(Command *command, const Position *start) {
    char fen[FEN_MAX];
    position_to_fen(start, fen);
    bool usual = !start->chess960 && strcmp(fen, POSITION_START_FEN) == 0;
    command->position_size = (size_t)snprintf(command->text, sizeof command->text, "position %s%s",
                                              usual ? "startpos" : "fen ", usual ? "" : fen);
}

void command_add_move(Command *command, bool first, const char *move) {
    size_t length = strlen(move);
    if (first) {
        memcpy(command->text + command->position_size, " moves", 6);
        command->position_size += 6;
    }
    command->text[command->position_size++] = ' ';
    memcpy(command->text + command->position_size, move, length);
    command->position_size += length;
}

// Appends " name value" to text[at…]. COMMAND_MAX has room for all numbers.
static size_t add_number(char *text, size_t at, const char *name, int64_t value) {
    char digits[20];
    size_t count = 0, length = strlen(name);
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    text[at++] = ' ';
    memcpy(text + at, name, length);
    at += length;
    text[at++] = ' ';
    while (count)
        text[at++] = digits[--count];
    return at;
}

// Both clocks, then both increments. A side without a clock is omitted.
static size_t add_clocks(const Clock clocks[COLOR_NB], char *text, size_t at) {
    for (Color side = WHITE; side <= BLACK; side++) {
        int64_t left_ms = clocks[side].left_ns / 1000000;
        if (has_clock(clocks[side].limit))
            at = add_number(text, at, side == WHITE ? "wtime" : "btime", left_ms > 0 ? left_ms : 1);
    }
    for (Color side = WHITE; side <= BLACK; side++) {
        int64_t increment_ms = clocks[side].limit->increment_ms;
        if (increment_ms)
            at = add_number(text, at, side == WHITE ? "winc" : "binc", increment_ms);
    }
    return at;
}

size_t command_add_go(Command *command, const Clock clocks[COLOR_NB], Color side) {
    const MatchLimit *limit = clocks[side].limit;
    char *text = command->text;
    size_t at = command->position_size;
    memcpy(text + at, "\ngo", 4);
    at += 3;
    if (has_clock(limit)) {
        at = add_clocks(clocks, text, at);
        if (limit->moves_to_go)
            at = add_number(text, at, "movestogo",
                            limit->moves_to_go - clocks[side].moves % limit->moves_to_go);
    }
    if (limit->nodes)
        at = add_number(text, at, "nodes", limit->nodes);
    if (limit->depth)
        at = add_number(text, at, "depth", limit->depth);
    if (limit->move_ms) {
        int64_t move_ms = move_ns(&clocks[side]) / 1000000;
        at = add_number(text, at, "movetime", move_ms > 0 ? move_ms : 1);
    }
    text[at++] = '\n';
    return at;
}
