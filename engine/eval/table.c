// The table of values as data.
#include "eval/values.h"

const EvalRow EVAL_ROWS[EVAL_ROW_COUNT] = {
#define X(kind, name, dimensions)                                                                  \
    {#name, #dimensions, VALUE_##kind, sizeof((EvalValues *)0)->name / sizeof(int32_t)},
    EVAL_VALUES(X)
#undef X
};
