// The stop rule from batch to batch, as text and back, and the block that people paste. The
// document is in verdict_document.c.
#include "server/ledger/sprt_state.h"
#include "server/common/json_member.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_NUMBERS = 11 };

// [pairs, llr, ref0, m0, sq0, ref1, m1, sq1, skipped, uncorrected, verdict]; 17 digits bring every
// double back.
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

void verdict_update(SprtState *state, const SprtBounds *bounds, bool sprt, int batch_pairs,
                    const int64_t counts[5]) {
    double totals[5], pairs = 0;
    for (int i = 0; i < 5; i++)
        pairs += totals[i] = (double)counts[i];
    if (!sprt) {
        *state = (SprtState){.pairs = pairs};
        return;
    }
    SprtState next = *state;
    sprt_update(&next, bounds, batch_pairs, totals);
    if (isfinite(next.llr)) // else no law fits a hypothesis yet; the next batch may tell
        *state = next;
}

// ---- text ---------------------------------------------------------------------------------------

void verdict_text(const json_t *test, Str *out) {
    long long w = member_int(test, "wins"), l = member_int(test, "losses"),
              d = member_int(test, "draws");
    if (strcmp(member_text(test, "kind"), "sprt") == 0) {
        bool logistic = strcmp(member_text(test, "model"), "logistic") == 0;
        SprtBounds bounds = verdict_bounds(member_text(test, "model"), member_real(test, "elo0"),
                                           member_real(test, "elo1"), member_real(test, "alpha"),
                                           member_real(test, "beta"));
        str_printf(out, "LLR: %.2f (%.2f,%.2f) %c%.2f,%.2f%c\n", member_real(test, "llr"),
                   sprt_lower(&bounds), sprt_upper(&bounds), logistic ? '{' : '<', bounds.elo0,
                   bounds.elo1, logistic ? '}' : '>');
    }
    str_printf(out, "Total: %lld W: %lld L: %lld D: %lld\n", w + l + d, w, l, d);
    str_printf(out, "Ptnml(0-2): %lld, %lld, %lld, %lld, %lld\n",
               (long long)member_int(test, "ptnml0"), (long long)member_int(test, "ptnml1"),
               (long long)member_int(test, "ptnml2"), (long long)member_int(test, "ptnml3"),
               (long long)member_int(test, "ptnml4"));
}

// Fishtest's meanings: green accepted, blue a non-regression accepted, red rejected, yellow
// rejected though it won more games than it lost. A test of fixed length goes by its LOS.
static const char *fixed_color(const json_t *test) {
    static const char *const keys[] = {"ptnml0", "ptnml1", "ptnml2", "ptnml3", "ptnml4"};
    double counts[5];
    for (int i = 0; i < 5; i++)
        counts[i] = member_real(test, keys[i]);
    double los = elo_estimate(counts, 5).los;
    return los > 0.95 ? "green" : los < 0.05 ? "red" : "";
}

const char *verdict_color(const json_t *test) {
    const char *result = member_text(test, "result");
    if (strcmp(result, "accepted") == 0)
        return member_real(test, "elo0") + member_real(test, "elo1") < 0 ? "blue" : "green";
    if (strcmp(result, "rejected") == 0)
        return member_int(test, "wins") > member_int(test, "losses") ? "yellow" : "red";
    if (strcmp(result, "completed") == 0 && strcmp(member_text(test, "kind"), "fixed") == 0)
        return fixed_color(test);
    return "";
}
