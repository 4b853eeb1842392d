// See adjudicate.h.
#include "worker/match/adjudicate.h"

#include <stdlib.h>

static void count_draw(Adjudicator *a, const Position *pos, int32_t score) {
    bool level = !uci_score_is_mate(score) && abs(score) <= a->rules->draw_score;
    a->draw_plies = (pos->rule50 == 0 ? 0 : a->draw_plies) + 1;
    if (!level)
        a->draw_plies = 0;
}

static void count_resign(Adjudicator *a, Color mover, int32_t score) {
    bool lost = score <= -a->rules->resign_score;
    bool decided = abs(score) >= a->rules->resign_score;
    a->lost_moves[mover] = lost ? a->lost_moves[mover] + 1 : 0;
    a->decided_plies = decided ? a->decided_plies + 1 : 0;
}

static bool resigns(const Adjudicator *a, int32_t score) {
    const Adjudication *rules = a->rules;
    if (!rules->resign_count || score >= 0)
        return false;
    if (rules->resign_two_sided)
        return a->decided_plies >= 2 * rules->resign_count;
    return a->lost_moves[WHITE] >= rules->resign_count ||
           a->lost_moves[BLACK] >= rules->resign_count;
}

static bool is_draw(const Adjudicator *a, const Position *pos) {
    return a->rules->draw_count && pos->fullmove - 1 >= a->rules->draw_move &&
           a->draw_plies >= 2 * a->rules->draw_count;
}

Decision adjudicate(Adjudicator *a, const Position *pos, Color mover, int32_t score, int plies) {
    if (score == UCI_SCORE_NONE) {
        *a = (Adjudicator){.rules = a->rules};
    } else {
        count_draw(a, pos, score);
        count_resign(a, mover, score);
        if (resigns(a, score))
            return DECISION_RESIGNS;
        if (is_draw(a, pos))
            return DECISION_DRAW;
    }
    return a->rules->max_moves && plies >= 2 * a->rules->max_moves ? DECISION_TOO_LONG
                                                                   : DECISION_NONE;
}
