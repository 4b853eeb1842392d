// What goes with the record of a game and is too long for it: the engines' info lines, and what was
// said before a fault.
#pragma once

#include "server/common/str.h"
#include "worker/match/game_record.h"
#include "worker/uci/engine_state.h"

enum { INFOS_MAX = 8 << 20, PROTOCOL_LOG_MAX = 128 << 10 };

// It outlives the game, and is used again for the next one.
typedef struct GameNotes {
    Str infos;
    MatchFault fault_report;
    char *protocol_log[2], *errors[2];
} GameNotes;

void game_notes_init(GameNotes *notes);
void game_notes_release(GameNotes *notes);
void game_notes_clear(GameNotes *notes);
// The last lines of the conversations with both engines, in the order of the game's players.
// Borrowed from `notes`.
const MatchFault *game_notes_fault(GameNotes *notes, EngineProcess *const engines[2],
                                   int64_t start_ns);
