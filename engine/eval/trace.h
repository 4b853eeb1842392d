// The evaluation with a count of every value that it uses, for the tuner. The counts come from the
// evaluation's own terms, which trace.c expands a second time. They do not slow down play.
#pragma once

#include "eval/trace_counts.h"

// Evaluates `pos` and fills `trace`. The score is equal to that of evaluate().
Score eval_trace(const Position *pos, EvalTrace *trace);
// The score computed from the counts and any values. With EVAL it is equal to evaluate().
Score eval_trace_score(const EvalTrace *trace, const EvalValues *values);
