// The choice between the net and the classical evaluation, and the conversion of the net's output
// to a score.
#include "search/evaluator.h"

#include <stdlib.h>

#include "eval/endgame.h"
#include "eval/eval.h"

Score evaluator_score(int32_t raw, int rule50) {
    const Score most = SCORE_MATE_LEAST - 1;
    // The score decreases with the fifty-move counter, as in the classical evaluation.
    Score score = network_centipawns(raw);
    score = score < -most ? -most : score > most ? most : score;
    return score * (200 - (rule50 < 100 ? rule50 : 100)) / 200;
}

// Nets have seen few games up to the mate. So endgames against a bare king are always judged by the
// rules of the classical evaluation, which lead to the mate.
static bool is_known(const Position *pos, Score *score) {
    return endgame_has_bare_king(pos) && endgame_is_known(pos, score);
}

Score searcher_evaluate(Searcher *s) {
    Score known;
    if (!s->accumulators)
        return evaluate(&s->pos, &s->pawns);
    if (is_known(&s->pos, &known))
        return known;
    return evaluator_score(accumulators_evaluate(s->accumulators, &s->pos), s->pos.rule50);
}

Score position_evaluate(const Position *pos, const Network *net) {
    Score known;
    if (net && is_known(pos, &known))
        return known;
    if (net)
        return evaluator_score(network_evaluate(net, pos), pos->rule50);
    PawnCache *cache = calloc(1, sizeof *cache);
    if (!cache)
        abort();
    pawn_cache_clear(cache);
    Score score = evaluate(pos, cache);
    free(cache);
    return score;
}
