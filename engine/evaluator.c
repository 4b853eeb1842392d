// Which evaluation judges a position, and how a net's output becomes a score.
#include "evaluator.h"

#include <stdlib.h>

#include "eval.h"

Score evaluator_score(int32_t raw, int rule50) {
    const Score most = SCORE_MATE_LEAST - 1;
    // Shuffling without progress is worth less and less, as in the classical evaluation.
    Score score = network_centipawns(raw);
    score = score < -most ? -most : score > most ? most : score;
    return score * (200 - (rule50 < 100 ? rule50 : 100)) / 200;
}

Score searcher_evaluate(Searcher *s) {
    if (!s->accumulators)
        return evaluate(&s->pos, &s->pawns);
    return evaluator_score(accumulators_evaluate(s->accumulators, &s->pos), s->pos.rule50);
}

Score position_evaluate(const Position *pos, const Network *net) {
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
