// See slot.h.
#include "worker/match/slot.h"

#include <stdlib.h>

enum { QUIT_PATIENCE_MS = 500 };

void slot_place_engines(SlotContext *slot, const GameRecord *record) {
    EngineProcess **engines = slot->engines;
    const EngineSpec *first = &slot->spec->engines[record->players[0]];
    const EngineSpec *second = &slot->spec->engines[record->players[1]];
    if (!engines[0]) {
        engines[0] = &slot->processes[0];
        engines[1] = &slot->processes[1];
    }
    if (engines[0]->spec == second || engines[1]->spec == first) {
        EngineProcess *other = engines[0];
        engines[0] = engines[1];
        engines[1] = other;
    }
    if (engines[0]->spec != first)
        engine_quit(engines[0], QUIT_PATIENCE_MS);
    if (engines[1]->spec != second)
        engine_quit(engines[1], QUIT_PATIENCE_MS);
}

void slot_quit_restarting(SlotContext *slot) {
    for (int i = 0; i < 2; i++)
        if (slot->engines[i]->spec && slot->engines[i]->spec->restart)
            engine_quit(slot->engines[i], QUIT_PATIENCE_MS);
}

void slot_end(SlotContext *slot, int patience_ms) {
    for (int i = 0; i < 2; i++)
        engine_quit(&slot->processes[i], patience_ms);
    free(slot->play);
    slot->play = NULL;
}
