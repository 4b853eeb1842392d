// The evaluation with traces: the template of sum.h, expanded with EVAL_TRACING, so that every use
// of a value is counted.
#define EVAL_TRACING 1
#include "eval/trace.h"

#include <string.h>

#include "eval/sum.h"

Score eval_trace(const Position *pos, EvalTrace *trace) {
    memset(trace, 0, sizeof *trace);
    trace->phase = phase_of(pos);
    trace->rule50 = pos->rule50;
    trace->side = pos->side;
    PawnEntry pawns;
    pawns_judge(pos, &pawns, trace);
    trace->scale[WHITE] = endgame_scale(pos, &pawns, WHITE);
    trace->scale[BLACK] = endgame_scale(pos, &pawns, BLACK);
    trace->is_known = endgame_has_bare_king(pos) && endgame_is_known(pos, &trace->known);
    return eval_position(pos, &pawns, trace);
}

// The sum of the rows of one kind for a colour.
static int sum_of(ValueKind kind, const EvalTrace *trace, Color us, const EvalValues *values) {
    const int32_t *value = (const int32_t *)values;
    const int16_t *count = trace->counts[us];
    int sum = 0;
    for (int row = 0; row < EVAL_ROW_COUNT; row++)
        for (int i = 0; i < EVAL_ROWS[row].count; i++, value++, count++)
            if (EVAL_ROWS[row].kind == kind)
                sum += *value * *count;
    return sum;
}

Score eval_trace_score(const EvalTrace *trace, const EvalValues *values) {
    Pair total = 0;
    if (trace->is_known)
        return trace->known;
    for (Color us = WHITE; us <= BLACK; us++) {
        Pair own = sum_of(VALUE_LINEAR, trace, us, values) -
                   king_danger_cost(sum_of(VALUE_DANGER, trace, us, values));
        total += us == WHITE ? own : -own;
    }
    return eval_mix(total, sum_of(VALUE_WINNABLE, trace, WHITE, values), trace->phase,
                    trace->scale[pair_eg(total) > 0 ? WHITE : BLACK], trace->side, trace->rule50,
                    values->tempo);
}
