// Which evaluation judges a position.
#include "evaluator.h"

#include "eval.h"

Score searcher_evaluate(Searcher *s) {
    return evaluate(&s->pos, &s->pawns);
}
