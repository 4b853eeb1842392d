// The parts of a game's record that are too long for the record itself: the info lines of the
// engines, and the fault report.
#pragma once

#include "server/common/str.h"
#include "worker/match/game_record.h"
#include "worker/uci/engine_state.h"

enum { INFOS_MAX = 8 << 20, PROTOCOL_LOG_MAX = 128 << 10 };

// It is kept after the game, and reused for the next one.
typedef struct GameNotes {
    Str infos;
    MatchFault fault_report;
    char *protocol_log[2], *errors[2];
} GameNotes;

void game_notes_init(GameNotes *notes);
void game_notes_release(GameNotes *notes);
void game_notes_clear(GameNotes *notes);
// The last lines to and from both engines, in the order of the game's players. Borrowed from
// `notes`.
const MatchFault *game_notes_fault(GameNotes *notes, EngineProcess *const engines[2],
                                   int64_t start_ns);
