// The evaluation as it plays: the template of eval_sum.h without traces. Pawn structure is in
// eval_pawns.h, pieces in eval_pieces.h, king safety in eval_king.h, passed pawns in eval_passed.h,
// threats in threats.h, endgames in endgame.c, the values in values.c.
#include "eval/eval.h"

#include "eval/psqt.h"
#include "eval/sum.h"

void eval_init(void) {
    psqt_init();
    endgame_init();
}

Score evaluate(const Position *pos, PawnCache *cache) {
    return eval_position(pos, pawns_probe(cache, pos), NULL);
}
