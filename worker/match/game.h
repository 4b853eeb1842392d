// Plays one game between two engine processes. The referee keeps the clocks, checks the moves, ends
// and adjudicates the game, and decides which engine is at fault. This module does not know pairs,
// slots and threads.
#pragma once

#include <stdatomic.h>

#include "worker/match/clock_load.h"
#include "worker/match/game_notes.h"
#include "worker/match/match_spec.h"
#include "worker/uci/engine_process.h"

// The context in which one slot plays its games, one after the other. Zero it, then set the members
// that are borrowed.
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
} SlotContext;

// Plays the game that record->pair, index and white name, and fills in the rest of the record.
// False: the match cannot be played, because an engine that has never answered does not start, no
// process can be started, or the opening is not valid; `err` says why. Engines keep running for the
// next game, unless they were at fault. The members of the record that are borrowed from `notes`
// are valid until `notes` is used again.
bool match_game_play(SlotContext *slot, GameRecord *record, GameNotes *notes, Error *err);
void match_slot_quit(SlotContext *slot, int patience_ms);
