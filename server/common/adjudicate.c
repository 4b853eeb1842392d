// See adjudicate.h.
#include "server/common/adjudicate.h"

#include <stdlib.h>

static void count_draw(Adjudicator *a, const AdjudicatedMove *move) {
    bool level = !move->mates && abs(move->score) <= a->rules->draw_score;
    a->draw_plies = (move->resets ? 0 : a->draw_plies) + 1;
    if (!level)
        a->draw_plies = 0;
}

static void count_resign(Adjudicator *a, const AdjudicatedMove *move) {
    bool lost = move->score <= -a->rules->resign_score;
    bool decided = abs(move->score) >= a->rules->resign_score;
    int *moves = &a->lost_moves[!move->by_white];
    *moves = lost ? *moves + 1 : 0;
    a->decided_plies = decided ? a->decided_plies + 1 : 0;
}

static bool resigns(const Adjudicator *a, int score) {
    const Adjudication *rules = a->rules;
    if (!rules->resign_count || score >= 0)
        return false;
    if (rules->resign_two_sided)
        return a->decided_plies >= 2 * rules->resign_count;
    return a->lost_moves[0] >= rules->resign_count || a->lost_moves[1] >= rules->resign_count;
}

static bool is_draw(const Adjudicator *a, int number) {
    return a->rules->draw_count && number >= a->rules->draw_move &&
           a->draw_plies >= 2 * a->rules->draw_count;
}

Decision adjudicate(Adjudicator *a, const AdjudicatedMove *move) {
    if (!move->has_score) {
        *a = (Adjudicator){.rules = a->rules};
    } else {
        count_draw(a, move);
        count_resign(a, move);
        if (resigns(a, move->score))
            return DECISION_RESIGNS;
        if (is_draw(a, move->number))
            return DECISION_DRAW;
    }
    return a->rules->max_moves && move->plies >= 2 * a->rules->max_moves ? DECISION_TOO_LONG
                                                                         : DECISION_NONE;
}
