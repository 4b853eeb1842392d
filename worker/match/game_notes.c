// See game_notes.h.
#include "worker/match/game_notes.h"

#include <stdlib.h>

void game_notes_init(GameNotes *notes) {
    *notes = (GameNotes){0};
    str_init(&notes->infos, INFOS_MAX);
}

void game_notes_clear(GameNotes *notes) {
    for (int i = 0; i < 2; i++) {
        free(notes->protocol_log[i]);
        free(notes->errors[i]);
        notes->protocol_log[i] = notes->errors[i] = NULL;
    }
    str_clear(&notes->infos);
}

void game_notes_release(GameNotes *notes) {
    game_notes_clear(notes);
    str_release(&notes->infos);
}

const MatchFault *game_notes_fault(GameNotes *notes, EngineProcess *const engines[2],
                                   int64_t start_ns) {
    for (int i = 0; i < 2; i++) {
        Str protocol_log, errors;
        str_init(&protocol_log, PROTOCOL_LOG_MAX);
        str_init(&errors, PROTOCOL_LOG_MAX);
        transcript_print(&engines[i]->protocol_log, start_ns, &protocol_log);
        tail_print(&engines[i]->errors, &errors);
        notes->fault_report.protocol_log[i] = notes->protocol_log[i] = str_steal(&protocol_log);
        notes->fault_report.errors[i] = notes->errors[i] = str_steal(&errors);
    }
    return &notes->fault_report;
}
