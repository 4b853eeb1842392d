// `sprt --json`: reads one request, calls the library, writes one answer. Each operation is a row
// of a table and a function that reads its fields in order. The first bad field ends the request;
// the error names it.
#include "sprt/json_api.h"

#include "sprt/sprt.h"
#include "sprt/width.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double COUNT_MAX = 1e15; // a double represents all whole numbers up to here

typedef struct JsonRequest {
    json_t *fields;
    char error[256]; // empty: no error
} JsonRequest;

static bool failed(const JsonRequest *request) {
    return request->error[0] != '\0';
}

static void __attribute__((format(printf, 2, 3)))
fail(JsonRequest *request, const char *format, ...) {
    if (failed(request))
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(request->error, sizeof request->error, format, args);
    va_end(args);
}

// ---- fields -------------------------------------------------------------------------------------

static json_t *field(JsonRequest *request, const char *name) {
    json_t *value = json_object_get(request->fields, name);
    if (!value)
        fail(request, "%s: missing", name);
    return value;
}

static double number(JsonRequest *request, const char *name) {
    json_t *value = field(request, name);
    if (value && !json_is_number(value))
        fail(request, "%s: must be a number", name);
    return json_number_value(value);
}

// `member` is "model" for hypotheses and "unit" for widths.
static SprtModel model(JsonRequest *request, const char *member) {
    json_t *value = field(request, member);
    const char *name = json_string_value(value);
    if (name && strcmp(name, "logistic") == 0)
        return SPRT_LOGISTIC;
    if (value && !(name && strcmp(name, "normalized") == 0))
        fail(request, "%s: must be \"normalized\" or \"logistic\"", member);
    return SPRT_NORMALIZED;
}

static SprtBounds bounds(JsonRequest *request) {
    SprtBounds result = {.model = model(request, "model"),
                         .elo0 = number(request, "elo0"),
                         .elo1 = number(request, "elo1"),
                         .alpha = number(request, "alpha"),
                         .beta = number(request, "beta")};
    const char *why = failed(request) ? NULL : sprt_bounds_check(&result);
    if (why)
        fail(request, "%s", why);
    return result;
}

// Reads a list of exactly `n` counts. False: it is not such a list. A bad number sets the error; a
// list of another length does not, so that the caller can describe what is expected.
static bool read_counts(JsonRequest *request, const char *name, const json_t *list, double *out,
                        size_t n) {
    if (!json_is_array(list) || json_array_size(list) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        out[i] = json_number_value(item);
        if (!json_is_number(item) || !(out[i] >= 0 && out[i] <= COUNT_MAX)) {
            fail(request, "%s: each count must be a number from 0 to %g", name, COUNT_MAX);
            return false;
        }
    }
    return true;
}

static int counts(JsonRequest *request, double out[5]) {
    json_t *list = field(request, "counts");
    int n = json_array_size(list) == 3 ? 3 : 5;
    if (list && !read_counts(request, "counts", list, out, (size_t)n))
        fail(request, "counts: must be a list of 5 (pairs) or 3 (games) numbers, worst first");
    return n;
}

// JSON has no infinities and no NAN: they become null.
static json_t *real(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

// ---- operations ---------------------------------------------------------------------------------

static json_t *op_llr(JsonRequest *request) {
    double n[5];
    SprtModel m = model(request, "model");
    double elo0 = number(request, "elo0"), elo1 = number(request, "elo1");
    int size = counts(request, n);
    if (failed(request))
        return NULL;
    double llr = sprt_llr(m, elo0, elo1, n, size);
    if (isnan(llr))
        fail(request, "elo0, elo1: too large, no estimate exists");
    return json_pack("{s:o}", "llr", real(llr));
}

static json_t *op_sprt_elo(JsonRequest *request) {
    double n[5];
    SprtBounds b = bounds(request);
    int size = counts(request, n);
    if (failed(request))
        return NULL;
    SprtEstimate e = sprt_estimate(&b, 0.05, n, size);
    return json_pack("{s:o, s:o, s:o, s:o}", "elo", real(e.elo), "low", real(e.low), "high",
                     real(e.high), "los", real(e.los));
}

static json_t *op_elo(JsonRequest *request) {
    double n[5];
    int size = counts(request, n);
    if (failed(request))
        return NULL;
    EloEstimate e = elo_estimate(n, size);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "elo", real(e.elo), "error",
                     real(e.error), "los", real(e.los), "nelo", real(e.nelo), "nelo_error",
                     real(e.nelo_error), "pair_ratio", real(e.pair_ratio), "draw_ratio",
                     real(e.draw_ratio));
}

static int batch_size(JsonRequest *request) {
    double batch = number(request, "batch");
    if (!(batch >= 1 && batch <= 1e6 && batch == floor(batch)))
        fail(request, "batch: must be a whole number of pairs from 1 to 1000000");
    return failed(request) ? 1 : (int)batch;
}

static const char *outcomes(JsonRequest *request) {
    json_t *value = field(request, "outcomes");
    const char *text = json_string_value(value);
    if (value && !text)
        fail(request, "outcomes: must be a string of digits 0 to 4");
    if (text && text[strspn(text, "01234")] != '\0')
        fail(request, "outcomes: character %zu is not a digit 0 to 4", strspn(text, "01234") + 1);
    return text;
}

// Pairs after the last complete batch do not count: in a real test they would not have arrived yet.
static json_t *op_run(JsonRequest *request) {
    SprtBounds b = bounds(request);
    int batch = batch_size(request);
    const char *next = outcomes(request);
    if (failed(request))
        return NULL;
    SprtState state = {0};
    double n[5] = {0};
    for (int pairs = 1; *next && state.verdict == SPRT_OPEN; pairs++) {
        n[*next++ - '0']++;
        if (pairs % batch == 0)
            sprt_update(&state, &b, batch, n);
    }
    static const char *const NAMES[] = {"", "accepted", "rejected"};
    return json_pack("{s:s, s:I, s:o}", "state", NAMES[state.verdict], "pairs",
                     (json_int_t)state.pairs, "llr", real(state.llr));
}

static json_t *chi2_answer(const double (*rows)[3], size_t row_count) {
    double residuals[CHI2_ROWS_MAX];
    Chi2 chi2 = chi2_workers(rows, (int)row_count, residuals);
    json_t *list = json_array();
    for (size_t r = 0; r < row_count; r++)
        json_array_append_new(list, real(residuals[r]));
    return json_pack("{s:o, s:i, s:o, s:o, s:o, s:o}", "chi2", real(chi2.chi2), "dof", chi2.dof,
                     "p", real(chi2.p), "residuals", list, "z95", real(chi2.z95), "z99",
                     real(chi2.z99));
}

static json_t *op_chi2(JsonRequest *request) {
    static const char NAME[] = "rows";
    double rows[CHI2_ROWS_MAX][3];
    json_t *list = field(request, NAME);
    size_t row_count = json_array_size(list);
    if (list && (!json_is_array(list) || row_count > CHI2_ROWS_MAX))
        fail(request, "rows: must be a list of at most %d [wins, losses, draws]", CHI2_ROWS_MAX);
    for (size_t r = 0; r < row_count && !failed(request); r++)
        if (!read_counts(request, NAME, json_array_get(list, r), rows[r], 3))
            fail(request, "rows: row %zu is not [wins, losses, draws]", r + 1);
    return failed(request) ? NULL : chi2_answer(rows, row_count);
}

static json_t *op_expect(JsonRequest *request) {
    SprtBounds b = bounds(request);
    double draw_ratio = number(request, "draw_ratio"), bias = number(request, "bias");
    double elo = number(request, "elo");
    if (!failed(request) && !(draw_ratio >= 0 && draw_ratio < 1))
        fail(request, "draw_ratio: must be at least 0 and below 1");
    if (failed(request))
        return NULL;
    SprtExpectation e = sprt_expect(&b, draw_ratio, bias, elo);
    if (isnan(e.pass))
        fail(request, "bias: too large for this draw_ratio, the variance would not be positive");
    return json_pack("{s:o, s:o}", "pass", real(e.pass), "games", real(e.games));
}

static double draw_share(JsonRequest *request) {
    double share = number(request, "draw_share");
    if (!failed(request) && !(share > 0 && share < 1))
        fail(request, "draw_share: must be above 0 and below 1");
    return share;
}

static json_t *op_plan(JsonRequest *request) {
    double even[5];
    SprtBounds b = bounds(request);
    double share = draw_share(request), elo = number(request, "elo");
    double pairs_max = number(request, "pairs_max");
    if (!failed(request) && !(pairs_max >= 1 && pairs_max <= COUNT_MAX))
        fail(request, "pairs_max: must be a number from 1 to %g", COUNT_MAX);
    if (failed(request))
        return NULL;
    width_even_law(share, even);
    SprtPlan p = sprt_plan(&b, even, elo, pairs_max);
    if (isnan(p.pairs))
        fail(request, "elo0, elo1: too large, no estimate exists");
    return json_pack("{s:o, s:o, s:o, s:o}", "accepted", real(p.accepted), "rejected",
                     real(p.rejected), "undecided", real(p.undecided), "pairs", real(p.pairs));
}

static WidthRule width_rule(JsonRequest *request) {
    WidthRule rule = {.unit = model(request, "unit"), .elo = number(request, "x")};
    const char *why = failed(request) ? NULL : width_rule_check(&rule);
    if (why)
        fail(request, "x: %s", why);
    return rule;
}

static json_t *op_width(JsonRequest *request) {
    double n[5];
    WidthRule rule = width_rule(request);
    if (counts(request, n) != 5)
        fail(request, "counts: must be a list of 5 (pairs) numbers, worst first");
    if (failed(request))
        return NULL;
    WidthInterval w = width_interval(&rule, n);
    return json_pack("{s:o, s:o, s:o, s:o, s:b}", "elo", real(w.elo), "half", real(w.half), "low",
                     real(w.low), "high", real(w.high), "stops", w.stops);
}

static json_t *op_width_pairs(JsonRequest *request) {
    WidthRule rule = width_rule(request);
    double share = draw_share(request);
    return failed(request) ? NULL
                           : json_pack("{s:o}", "pairs", real(width_pairs_expected(&rule, share)));
}

static const struct {
    const char *name;
    json_t *(*answer)(JsonRequest *);
} OPS[] = {
    {"llr", op_llr},   {"sprt_elo", op_sprt_elo}, {"elo", op_elo},
    {"run", op_run},   {"chi2", op_chi2},         {"expect", op_expect},
    {"plan", op_plan}, {"width", op_width},       {"width_pairs", op_width_pairs},
};
enum { OP_COUNT = sizeof OPS / sizeof *OPS };

static void fail_unknown_op(JsonRequest *request) {
    char names[160] = "";
    for (size_t i = 0, size = 0; i < OP_COUNT && size < sizeof names; i++)
        size +=
            (size_t)snprintf(names + size, sizeof names - size, "%s%s", i ? ", " : "", OPS[i].name);
    fail(request, "op: must be one of %s", names);
}

// ---- lines --------------------------------------------------------------------------------------

static json_t *answer(JsonRequest *request) {
    if (!json_is_object(request->fields)) {
        fail(request, "a request must be a JSON object");
        return NULL;
    }
    json_t *op = field(request, "op");
    const char *name = json_string_value(op);
    for (size_t i = 0; name && i < OP_COUNT; i++)
        if (strcmp(name, OPS[i].name) == 0)
            return OPS[i].answer(request);
    fail_unknown_op(request);
    return NULL;
}

static char *print(json_t *object) {
    char *text = json_dumps(object, JSON_REAL_PRECISION(17) | JSON_COMPACT);
    json_decref(object);
    if (!text)
        abort(); // out of memory
    return text;
}

char *json_api_error(const char *message) {
    return print(json_pack("{s:s}", "error", message));
}

char *json_api_answer(const char *line, size_t length) {
    JsonRequest request = {0};
    json_error_t why;
    json_auto_t *fields = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (!fields)
        fail(&request, "not JSON: %s", why.text);
    request.fields = fields;
    json_t *result = failed(&request) ? NULL : answer(&request);
    if (!failed(&request))
        return print(result);
    json_decref(result);
    return json_api_error(request.error);
}
