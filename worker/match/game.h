// One game between two engine processes, with the referee in between: clocks, legal moves, ends,
// adjudication, and whose fault it was. Knows nothing of pairs, slots and threads.
#pragma once

#include <stdatomic.h>

#include "worker/match/clock_load.h"
#include "worker/match/game_notes.h"
#include "worker/match/match_spec.h"
#include "worker/uci/engine_process.h"

// Where one slot plays its games, one after the other. Zero but for what is borrowed.
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
    EngineProcess *engines[2]; // those two, in the order of the present game's players
} SlotContext;

// Plays the game that record->pair, index and white name and fills in the rest. False: the match
// makes no sense, since an engine that has never answered does not start or the opening is none;
// `err` says why. Engines are left running for the next game, unless they were at fault. What the
// record borrows of `notes` stays until these are used again.
bool match_game_play(SlotContext *slot, GameRecord *record, GameNotes *notes, Error *err);
void match_slot_quit(SlotContext *slot, int patience_ms);
