// The context in which one slot plays its games, one after the other: its two engine processes,
// which continue from game to game, and what the match shares with it.
#pragma once

#include <stdatomic.h>

#include "worker/match/clock_load.h"
#include "worker/match/match_spec.h"
#include "worker/uci/engine_process.h"

// Zero it, then set the members that are borrowed.
typedef struct SlotContext {
    const MatchSpec *spec;
    int cancel_fd;               // readable: stop at once
    atomic_uint_fast64_t *plies; // counts every move played
    EngineLog log;               // for all its engines
    SlotLoad load;
    void (*warn)(void *owner, const GameRecord *game, const char *text); // may be NULL
    void *owner;
    atomic_bool *has_started; // of each engine: it has started once in this match
    EngineProcess processes[2];
    EngineProcess *engines[2]; // both processes, in the order of the game's players
    struct GamePlay *play;     // the present or last game (game.c); NULL before the first
} SlotContext;

// Makes `engines` the processes of the game's players. A process whose engine does not play in this
// game quits.
void slot_place_engines(SlotContext *slot, const GameRecord *record);
// Ends the processes whose engine is started anew for each game.
void slot_quit_restarting(SlotContext *slot);
// Ends both processes, and frees what the slot has.
void slot_end(SlotContext *slot, int patience_ms);
