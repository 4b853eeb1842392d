// See pairs.h.
#include "server/ledger/pairs.h"

#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "sprt/sprt.h"

// ---- sums ---------------------------------------------------------------------------------------

// The members of a result that are added up.
static const struct {
    const char *name;
    size_t offset;
} sums[] = {{"wins", offsetof(Pairs, wins)},
            {"losses", offsetof(Pairs, losses)},
            {"draws", offsetof(Pairs, draws)},
            {"crashes", offsetof(Pairs, crashes)},
            {"time_losses", offsetof(Pairs, time_losses)},
            {"ponders", offsetof(Pairs, ponders)},
            {"ponders_against", offsetof(Pairs, ponders_against)}};
enum { SUMS = sizeof sums / sizeof *sums };

static int64_t *sum_of(Pairs *pairs, int i) {
    return (int64_t *)(void *)((char *)pairs + sums[i].offset);
}

Pairs pairs_read(const json_t *state) {
    Pairs pairs = {0};
    const json_t *ptnml = json_object_get(state, "ptnml");
    for (size_t i = 0; i < 5; i++)
        pairs.ptnml[i] = json_integer_value(json_array_get(ptnml, i));
    for (int i = 0; i < SUMS; i++)
        *sum_of(&pairs, i) = member_int(state, sums[i].name);
    return pairs;
}

void pairs_write(const Pairs *pairs, json_t *state) {
    Pairs copy = *pairs;
    json_t *ptnml = json_array();
    for (int i = 0; i < 5; i++)
        json_array_append_new(ptnml, json_integer(pairs->ptnml[i]));
    json_object_set_new(state, "ptnml", ptnml);
    for (int i = 0; i < SUMS; i++)
        json_object_set_new(state, sums[i].name, json_integer(*sum_of(&copy, i)));
}

// With the sides exchanged, a pair of 4 half points is one of 0, and wins are losses.
void pairs_add(Pairs *pairs, const WorkloadBatch *batch) {
    bool mirrored = batch->sign < 0;
    Pairs more = {.wins = member_int(batch->result, mirrored ? "losses" : "wins"),
                  .losses = member_int(batch->result, mirrored ? "wins" : "losses"),
                  .draws = member_int(batch->result, "draws"),
                  .crashes = member_int(batch->result, "crashes"),
                  .time_losses = member_int(batch->result, "time_losses"),
                  .ponders = member_int(batch->result, mirrored ? "ponders_against" : "ponders"),
                  .ponders_against =
                      member_int(batch->result, mirrored ? "ponders" : "ponders_against")};
    for (const char *p = member_text(batch->result, "outcomes"); *p; p++)
        pairs->ptnml[mirrored ? '4' - *p : *p - '0']++;
    for (int i = 0; i < SUMS; i++)
        *sum_of(pairs, i) += *sum_of(&more, i);
}

void pairs_subtract(const json_t *part, json_t *state) {
    Pairs pairs = pairs_read(state), less = pairs_read(part);
    for (int i = 0; i < 5; i++)
        pairs.ptnml[i] -= less.ptnml[i];
    for (int i = 0; i < SUMS; i++)
        *sum_of(&pairs, i) -= *sum_of(&less, i);
    pairs_write(&pairs, state);
}

int64_t pairs_count(const Pairs *pairs) {
    const int64_t *n = pairs->ptnml;
    return n[0] + n[1] + n[2] + n[3] + n[4];
}

// ---- a result -----------------------------------------------------------------------------------

static bool refuse(Error *err, const char *field, const char *what, int64_t is, int64_t should) {
    return error_field(err, 422, "bad_counts", field, "%s: %lld, should be %lld", what,
                       (long long)is, (long long)should);
}

static bool outcomes_count(const char *outcomes, int64_t units, int64_t ptnml[5], Error *err) {
    int64_t length = (int64_t)strlen(outcomes);
    memset(ptnml, 0, 5 * sizeof *ptnml);
    if (length != units)
        return refuse(err, "outcomes", "pairs in the batch", length, units);
    for (const char *p = outcomes; *p; p++) {
        if (*p < '0' || *p > '4')
            return error_field(err, 422, "bad_counts", "outcomes", "outcomes are digits 0 to 4");
        ptnml[*p - '0']++;
    }
    return true;
}

// A batch of a thousand pairs has no number beyond 2000, so sums of these cannot overflow.
static bool members_check(const json_t *result, int64_t games, Error *err) {
    if (!json_is_string(json_object_get(result, "outcomes")) ||
        json_object_size(result) != SUMS + 1)
        return error_field(err, 422, "bad_request", "result",
                           "a result has outcomes, wins, losses, draws, crashes, time_losses, "
                           "ponders and ponders_against");
    for (int i = 0; i < SUMS; i++) {
        const json_t *value = json_object_get(result, sums[i].name);
        int64_t count = json_integer_value(value);
        if (!json_is_integer(value) || count < 0 || count > games)
            return error_field(err, 422, "bad_counts", sums[i].name, "%s is 0 to %lld",
                               sums[i].name, (long long)games);
    }
    return true;
}

// A game has one fault at most, and a side that computed in its opponent's time has lost.
static bool faults_check(const json_t *result, int64_t games, Error *err) {
    int64_t crashes = member_int(result, "crashes"), late = member_int(result, "time_losses"),
            ponders = member_int(result, "ponders"),
            against = member_int(result, "ponders_against");
    if (ponders > member_int(result, "losses"))
        return error_field(err, 422, "bad_counts", "ponders", "ponders are lost games");
    if (against > member_int(result, "wins"))
        return error_field(err, 422, "bad_counts", "ponders_against",
                           "ponders_against are games that the other side lost");
    return crashes + late + ponders + against <= games ||
           error_field(err, 422, "bad_counts", "time_losses",
                       "crashes, time losses and ponders together are 0 to %lld", (long long)games);
}

bool pairs_check(const WorkloadDealt *dealt, const json_t *result, Error *err) {
    int64_t p[5], games = 2 * dealt->units;
    if (!members_check(result, games, err) ||
        !outcomes_count(member_text(result, "outcomes"), dealt->units, p, err))
        return false;
    int64_t wins = member_int(result, "wins"), losses = member_int(result, "losses"),
            draws = member_int(result, "draws");
    if (wins + losses + draws != games)
        return refuse(err, "draws", "wins + losses + draws", wins + losses + draws, games);
    int64_t balance = 2 * p[4] + p[3] - p[1] - 2 * p[0];
    if (wins - losses != balance)
        return refuse(err, "wins", "wins - losses", wins - losses, balance);
    // A pair of 1 or 3 points has one drawn game, a pair of 2 points has none or two. The sum
    // checked above has the right parity already.
    if (draws < p[3] + p[1] || draws > p[3] + 2 * p[2] + p[1])
        return error_field(err, 422, "bad_counts", "draws", "%lld draws do not fit the outcomes",
                           (long long)draws);
    return faults_check(result, games, err);
}

json_t *pairs_told(void) {
    return json_object();
}

// ---- statistics ---------------------------------------------------------------------------------

json_t *real_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static void add_text(const Pairs *p, const char *first_line, json_t *out) {
    Str text scope(str_release);
    str_init(&text, 1024);
    const int64_t *n = p->ptnml;
    str_printf(&text,
               "%sTotal: %lld W: %lld L: %lld D: %lld\n"
               "Ptnml(0-2): %lld, %lld, %lld, %lld, %lld\n",
               first_line, (long long)(p->wins + p->losses + p->draws), (long long)p->wins,
               (long long)p->losses, (long long)p->draws, (long long)n[0], (long long)n[1],
               (long long)n[2], (long long)n[3], (long long)n[4]);
    json_object_set_new(out, "text", json_string(text.data));
}

static void add_shares(const Pairs *p, json_t *out) {
    double all = (double)(p->wins + p->losses + p->draws), part = all > 0 ? 100 / all : 0;
    json_object_set_new(out, "wdl_percent",
                        json_pack("{s:f, s:f, s:f}", "win", (double)p->wins * part, "draw",
                                  (double)p->draws * part, "loss", (double)p->losses * part));
}

static void add_estimates(const Pairs *p, json_t *out) {
    double counts[5];
    int64_t pairs = pairs_count(p);
    for (int i = 0; i < 5; i++)
        counts[i] = (double)p->ptnml[i];
    EloEstimate e = elo_estimate(counts, 5);
    json_t *plain =
        pairs ? json_pack("{s:o, s:o, s:o, s:o, s:o}", "elo", real_or_null(e.elo), "error",
                          real_or_null(e.error), "low", real_or_null(e.elo - e.error), "high",
                          real_or_null(e.elo + e.error), "los", real_or_null(e.los))
              : json_null();
    json_t *nelo = pairs ? json_pack("{s:o, s:o}", "nelo", real_or_null(e.nelo), "error",
                                     real_or_null(e.nelo_error))
                         : json_null();
    json_object_set_new(out, "plain", plain);
    json_object_set_new(out, "nelo", nelo);
    json_object_set_new(out, "pair_ratio", real_or_null(e.pair_ratio));
    json_object_set_new(out, "draw_ratio",
                        real_or_null(pairs ? (double)p->draws / (double)(2 * pairs) : NAN));
    json_object_set_new(out, "draw_ratio_pairs", real_or_null(pairs ? e.draw_ratio : NAN));
}

void pairs_document(const Pairs *pairs, const char *first_line, json_t *out) {
    int64_t count = pairs_count(pairs);
    add_text(pairs, first_line, out);
    json_object_set_new(out, "games", json_integer(2 * count));
    json_object_set_new(out, "pairs", json_integer(count));
    pairs_write(pairs, out);
    add_shares(pairs, out);
    add_estimates(pairs, out);
}

json_t *pairs_expected_length(double pairs, bool assumes) {
    return json_pack("{s:n, s:b, s:[{s:n, s:n, s:n, s:n, s:f}]}", "unit", "assumes", (int)assumes,
                     "cases", "elo", "accepted", "rejected", "undecided", "units", pairs);
}

json_t *pairs_eta(const WorkloadFacts *facts, double pairs_left, double pass) {
    double games_left = 2 * fmax(pairs_left, 0);
    double seconds = facts->games_per_hour > 0 ? games_left / facts->games_per_hour * 3600 : NAN;
    if (*facts->result || !isfinite(games_left))
        return json_null();
    return json_pack("{s:f, s:f, s:o, s:o}", "games", 2 * (double)facts->units + games_left,
                     "games_left", games_left, "seconds", real_or_null(seconds), "pass",
                     real_or_null(pass));
}
