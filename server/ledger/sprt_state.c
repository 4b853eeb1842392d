// See sprt_state.h.
#include "server/ledger/sprt_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_NUMBERS = 11 };

// [pairs, llr, ref0, m0, sq0, ref1, m1, sq1, skipped, uncorrected, verdict]. With 17 digits every
// double is read back exactly.
void verdict_state_write(const SprtState *s, char out[VERDICT_STATE_MAX]) {
    snprintf(out, VERDICT_STATE_MAX,
             "[%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%d]", s->pairs, s->llr,
             s->ref0, s->m0, s->sq0, s->ref1, s->m1, s->sq1, s->skipped, s->uncorrected,
             (int)s->verdict);
}

bool verdict_state_read(const char *text, SprtState *state) {
    double n[STATE_NUMBERS];
    *state = (SprtState){0};
    if (strcmp(text, "{}") == 0)
        return true;
    for (int i = 0; i < STATE_NUMBERS; i++) {
        char *end;
        if (*text != (i ? ',' : '['))
            return false;
        n[i] = strtod(text + 1, &end);
        if (end == text + 1)
            return false;
        text = end;
    }
    if (strcmp(text, "]") != 0 || !(n[10] >= SPRT_OPEN && n[10] <= SPRT_REJECTED))
        return false;
    *state = (SprtState){
        n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9] > 0, (SprtVerdict)n[10]};
    return true;
}

SprtBounds verdict_bounds(const char *model, double elo0, double elo1, double alpha, double beta) {
    return (SprtBounds){strcmp(model, "logistic") == 0 ? SPRT_LOGISTIC : SPRT_NORMALIZED, elo0,
                        elo1, alpha, beta};
}
