// The names, kinds and sizes of all values as an array, for the tuner.
#include "eval/values.h"

const EvalRow EVAL_ROWS[EVAL_ROW_COUNT] = {
#define X(kind, name, dimensions)                                                                  \
    {#name, #dimensions, VALUE_##kind, sizeof((EvalValues *)0)->name / sizeof(int32_t)},
    EVAL_VALUES(X)
#undef X
};
