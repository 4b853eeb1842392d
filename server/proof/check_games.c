// The games of each batch: the replay that the server does at the upload, with the openings that
// the test's seed takes of its book, and the clock that the machine signed.
#include <inttypes.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/replay.h"
#include "server/proof/check.h"

typedef struct Seen {
    int64_t batches, games, gone;
} Seen;

static int64_t count_of(const CheckedBatch *b, const char *name) {
    return member_int(b->result, name);
}

// The clock that was signed must be that of the test at the speed that the machine reported.
static bool read_clocks(const Check *check, const CheckedBatch *b, TimeControl clocks[2],
                        Error *err) {
    ClockScale scale = check->scale;
    char text[TC_TEXT_MAX];
    scale.reference_speed = b->reference_speed;
    for (int i = 0; i < 2; i++)
        if (!clock_scale_apply(&scale, check->sides[i].tc, b->speed, &clocks[i], err))
            return false;
    return strcmp(tc_text(&clocks[0], text), b->tc) == 0 ||
           error_set(err, 422, "bad_clock", "its machine was to play at %s and signed %.40s", text,
                     b->tc);
}

static json_t *openings_of(const Check *check, const CheckedBatch *b) {
    Str text scope(str_release);
    str_init(&text, (size_t)(b->units + 1) * OPENING_TEXT_MAX);
    book_deal(check->book, member_int(check->test, "seed"), b->first_pair, b->units, &text);
    return json_loadb(text.data, text.size, 0, NULL);
}

static bool replay_batch(const Check *check, const CheckedBatch *b, const Str *text, Error *err) {
    json_auto_t *openings = openings_of(check, b);
    ReplayFacts facts = {.first_pair = b->first_pair,
                         .outcomes = member_text(b->result, "outcomes"),
                         .wins = count_of(b, "wins"),
                         .losses = count_of(b, "losses"),
                         .draws = count_of(b, "draws"),
                         .crashes = count_of(b, "crashes"),
                         .time_losses = count_of(b, "time_losses"),
                         .ponders = {count_of(b, "ponders"), count_of(b, "ponders_against")},
                         .openings = openings,
                         .rules = check->rules,
                         .margin_ms = {check->sides[0].margin_ms, check->sides[1].margin_ms},
                         .thought = b->thought,
                         .chess960 = strcmp(member_text(check->test, "variant"), "chess960") == 0};
    if (json_array_size(openings) != (size_t)b->units)
        return error_set(err, 422, "", "the book has no openings for it");
    return read_clocks(check, b, facts.clocks, err) &&
           replay_games(text->data, text->size, &facts, err);
}

static bool batch_holds(const Check *check, const CheckedBatch *b, Seen *seen, Error *err) {
    WorkloadDealt dealt = {.told = b->told, .first_unit = b->first_pair, .units = b->units};
    Str text scope(str_release);
    str_init(&text, games_text_max(b->units));
    if (!check->workload->check(&dealt, b->result, err))
        return false;
    if (check->workload->unit != UNIT_PAIR)
        return true;
    if (!b->games)
        return error_set(err, 422, "", "it has no games");
    if (!check->evidence->games(check->evidence, b->games, &text, err)) {
        bool dropped = json_is_number(json_object_get(check->test, "games_dropped"));
        seen->gone += dropped;
        return dropped;
    }
    seen->batches++;
    seen->games += 2 * b->units;
    return replay_batch(check, b, &text, err);
}

void check_games(Check *check) {
    Seen seen = {0};
    check->step = "games";
    for (size_t i = 0; i < check->count; i++) {
        const CheckedBatch *b = &check->batches[i];
        Error err = {0};
        if (batch_holds(check, b, &seen, &err))
            continue;
        char *why scope(free_ptr) = check_shown(err.message);
        check_wrong(check, "batch %" PRId64 " of task %" PRId64 ", machine %" PRId64 ": %s", b->seq,
                    b->task, b->machine, why);
    }
    check_end(check,
              "%" PRId64 " games of %" PRId64
              " batches follow from openings, moves, scores and clocks, and make their counts",
              seen.games, seen.batches);
    if (seen.gone)
        fprintf(check->out,
                "not checked: the games of %" PRId64 " batches. The manifest says that they were "
                "deleted because the server's disk was full. Their counts are believed as signed\n",
                seen.gone);
}
