// Correction history: the tables, their keys, and how much one search changes them.
#include "search/correction.h"

// CORRECTION_UNIT in a slot means one centipawn. So one table corrects by at most 32 centipawns.
enum { CORRECTION_UNIT = HISTORY_MAX / 32, CORRECTION_STEP_MAX = HISTORY_MAX / 4 };

static int16_t *pawn_slot(Searcher *s) {
    return &s->history.pawn_correction[s->pos.side][s->pos.pawn_key % CORRECTION_SIZE];
}

static int16_t *piece_slot(Searcher *s, Color whose) {
    Key key = searcher_frame(s)->piece_keys[whose];
    return &s->history.piece_correction[s->pos.side][whose][key % CORRECTION_SIZE];
}

static int clamp(int value, int most) {
    return value > most ? most : value < -most ? -most : value;
}

Score eval_corrected(Searcher *s, Score raw) {
    int sum = *pawn_slot(s);
    sum += *piece_slot(s, WHITE) + *piece_slot(s, BLACK);
    return clamp(raw + sum / CORRECTION_UNIT, SCORE_MATE_LEAST - 1);
}

void correction_learn(Searcher *s, Score error, int depth) {
    int bonus = clamp(4 * error * depth, CORRECTION_STEP_MAX);
    history_update(pawn_slot(s), bonus);
    history_update(piece_slot(s, WHITE), bonus);
    history_update(piece_slot(s, BLACK), bonus);
}
