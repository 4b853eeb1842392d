// Plays one game between two engine processes. The referee keeps the clocks, checks the moves, ends
// and adjudicates the game, and decides which engine is at fault. This module does not know pairs,
// slots and threads.
#pragma once

#include "worker/match/game_notes.h"
#include "worker/match/slot.h"

// Plays the game that record->pair, index and white name, and fills in the rest of the record.
// False: the match cannot be played, because an engine that has never answered does not start, no
// process can be started, or the opening is not valid; `err` says why. Engines keep running for the
// next game, unless they were at fault. The members of the record that are borrowed from `notes`
// are valid until `notes` is used again.
bool match_game_play(SlotContext *slot, GameRecord *record, GameNotes *notes, Error *err);
// Plays the slot's last game on, which a rule of adjudication has ended and whose engines still
// run: without such rules, and at most so many plies more. `record` is that of the game, or a copy
// of it, and gets the rest of the moves and another end: ABORTED if *stop became true or the match
// was stopped; ADJUDICATION, without a result, if the game has still no end.
void match_game_play_on(SlotContext *slot, GameRecord *record, int plies, const atomic_bool *stop);
