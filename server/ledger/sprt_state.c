// See sprt_state.h.
#include "server/ledger/sprt_state.h"

#include <math.h>

#include "server/common/json_member.h"
#include "server/ledger/pairs.h"

// ---- as JSON ------------------------------------------------------------------------------------

// The numbers of SprtState by name.
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {{"pairs", offsetof(SprtState, pairs)},    {"llr", offsetof(SprtState, llr)},
               {"ref0", offsetof(SprtState, ref0)},      {"m0", offsetof(SprtState, m0)},
               {"sq0", offsetof(SprtState, sq0)},        {"ref1", offsetof(SprtState, ref1)},
               {"m1", offsetof(SprtState, m1)},          {"sq1", offsetof(SprtState, sq1)},
               {"skipped", offsetof(SprtState, skipped)}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double *number_of(SprtState *state, int i) {
    return (double *)(void *)((char *)state + numbers[i].offset);
}

static SprtState read_one(const json_t *sprt) {
    SprtState s = {.uncorrected = json_is_true(json_object_get(sprt, "uncorrected")),
                   .verdict = (SprtVerdict)member_int(sprt, "verdict")};
    for (int i = 0; i < NUMBERS; i++)
        *number_of(&s, i) = member_real(sprt, numbers[i].name);
    return s;
}

static json_t *write_one(SprtState s) {
    json_t *sprt = json_object();
    for (int i = 0; i < NUMBERS; i++)
        json_object_set_new(sprt, numbers[i].name, json_real(*number_of(&s, i)));
    json_object_set_new(sprt, "uncorrected", json_boolean(s.uncorrected));
    json_object_set_new(sprt, "verdict", json_integer(s.verdict));
    return sprt;
}

SprtTwo sprt_two_read(const json_t *state) {
    const json_t *proven = json_object_get(state, "proven");
    SprtTwo two = {.all = read_one(json_object_get(state, "sprt"))};
    if (!proven)
        return two;
    two.apart = true;
    two.proven = read_one(json_object_get(proven, "sprt"));
    two.beyond = member_real(proven, "beyond");
    two.decides = json_is_true(json_object_get(proven, "decides"));
    for (size_t i = 0; i < 5; i++)
        two.counts[i] = json_number_value(json_array_get(json_object_get(proven, "ptnml"), i));
    return two;
}

void sprt_two_write(const SprtTwo *two, json_t *state) {
    const double *n = two->counts;
    json_object_set_new(state, "sprt", write_one(two->all));
    if (two->apart)
        json_object_set_new(state, "proven",
                            json_pack("{s:o, s:[f,f,f,f,f], s:f, s:b}", "sprt",
                                      write_one(two->proven), "ptnml", n[0], n[1], n[2], n[3], n[4],
                                      "beyond", two->beyond, "decides", two->decides));
}

// If the LLR is not finite, no distribution fits a hypothesis yet.
static void update(SprtState *state, const SprtBounds *bounds, int batch_pairs,
                   const double counts[5]) {
    SprtState next = *state;
    sprt_update(&next, bounds, batch_pairs, counts);
    if (isfinite(next.llr))
        *state = next;
}

SprtState sprt_of_sums(const SprtBounds *bounds, const int64_t ptnml[5]) {
    SprtState state = {.uncorrected = true};
    double counts[5];
    for (int i = 0; i < 5; i++)
        counts[i] = (double)ptnml[i];
    update(&state, bounds, 1, counts);
    return state;
}

// ---- counting -----------------------------------------------------------------------------------

// Unproven owners that send nothing more must not hold a test open either, so the patience is
// counted in proven pairs.
static void note_standing(SprtTwo *two, SprtVerdict before) {
    if (two->proven.verdict == SPRT_OPEN)
        two->beyond = 0;
    else if (two->proven.verdict != before || two->beyond <= 0)
        two->beyond = two->proven.pairs;
    else if (two->proven.pairs >= 1.1 * two->beyond && two->all.verdict != two->proven.verdict)
        two->decides = true;
}

void sprt_two_add(SprtTwo *two, const SprtBounds *bounds, const WorkloadBatch *batch,
                  int batch_pairs, const double counts[5]) {
    bool is_proven = batch->level != LEVEL_UNPROVEN;
    Pairs mine = {0};
    pairs_add(&mine, batch);
    if (!two->apart && !is_proven) { // until now all pairs were proven ones
        two->apart = true;
        two->proven = two->all;
        for (int i = 0; i < 5; i++)
            two->counts[i] = counts[i] - (double)mine.ptnml[i];
    }
    update(&two->all, bounds, batch_pairs, counts);
    if (!two->apart || !is_proven)
        return;
    for (int i = 0; i < 5; i++)
        two->counts[i] += (double)mine.ptnml[i];
    SprtVerdict before = two->proven.verdict;
    update(&two->proven, bounds, batch_pairs, two->counts);
    note_standing(two, before);
}

SprtVerdict sprt_two_verdict(const SprtTwo *two) {
    if (!two->apart)
        return two->all.verdict;
    if (two->decides || two->proven.verdict == two->all.verdict)
        return two->proven.verdict;
    return SPRT_OPEN;
}

double sprt_two_patience(const SprtTwo *two) {
    return two->beyond > 0 && !two->decides ? fmax(1.1 * two->beyond - two->proven.pairs, 1) : 0;
}
