// The evaluation for play: the template of sum.h, expanded without traces.
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
