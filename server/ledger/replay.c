// See replay.h.
#include "server/ledger/replay.h"

#include <jansson.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/ledger/replay_game.h"

// The sums over the games of a batch.
typedef struct Sums {
    int points; // of the new side in this pair, in half points
    int wins, losses, draws;
    int crashes, time_losses;
    int ponders[2];                           // lost by it: of the new side, of the base side
    int64_t moves;                            // of both sides in all games
    double thought_least_ms, thought_most_ms; // by both sides in all games
} Sums;

static size_t least(int64_t size, int64_t most) {
    return (size_t)(size < most ? size : most);
}

size_t games_text_max(int64_t pairs) {
    return least(2 * pairs * (GAME_LINE_MAX + 1), 64 << 20);
}

size_t games_packed_max(int64_t pairs) {
    return least(2 * pairs * GAME_PACKED_MAX, 8 << 20);
}

// The games are as many lines as expected, and each looks like an object.
static bool lines_check(const Str *text, int expected, Error *err) {
    int lines = 0;
    for (const char *p = text->data, *end = p + text->size; p < end; lines++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end;
        if (stop - p > GAME_LINE_MAX)
            return error_set(err, 422, "bad_games", "line %d has over %d bytes, more than any game",
                             lines + 1, GAME_LINE_MAX);
        if (lines == expected)
            return error_set(err, 422, "bad_games", "more than %d games", expected);
        if (stop - p < 2 || *p != '{' || stop[-1] != '}')
            return error_set(err, 422, "bad_games", "line %d is no JSON object", lines + 1);
        p = stop + 1;
    }
    return lines == expected ||
           error_set(err, 422, "bad_games", "%d games, should be %d", lines, expected);
}

bool games_check(const void *packed, size_t size, int pairs, Error *err) {
    if (size > games_packed_max(pairs))
        return error_set(err, 413, "too_large", "%d games take at most %zu bytes", 2 * pairs,
                         games_packed_max(pairs));
    Str text scope(str_release);
    str_init(&text, games_text_max(pairs));
    // Text that is too large has a line that is too long, or too many lines; the error names that.
    bool whole = zstd_decompress(packed, size, &text, err);
    return (whole || text.overflow) && lines_check(&text, 2 * pairs, err) && whole;
}

bool replay_rules(const char *json, Adjudication *out) {
    json_auto_t *rules = json_loads(json, 0, NULL);
    int two_sided = 0;
    *out = (Adjudication){0};
    bool good =
        json_unpack(rules, "{s:i, s:i, s:i, s:i, s:i, s:b, s:i}", "draw_move", &out->draw_move,
                    "draw_count", &out->draw_count, "draw_score", &out->draw_score, "resign_count",
                    &out->resign_count, "resign_score", &out->resign_score, "resign_two_sided",
                    &two_sided, "max_moves", &out->max_moves) == 0;
    out->resign_two_sided = two_sided;
    return good;
}

// ---- the batch ----------------------------------------------------------------------------------

static int points_of_new(const GameLine *line, GameResult result) {
    if (result == RESULT_DRAW)
        return 1;
    return (result == RESULT_WHITE_WINS) == line->new_is_white ? 2 : 0;
}

static void add_to_sums(const GameLine *line, const GameFound *found, Sums *sums) {
    bool crashed = strcmp(line->end, "crash") == 0 || strcmp(line->end, "stall") == 0 ||
                   strcmp(line->end, "illegal") == 0;
    int points = points_of_new(line, found->result);
    sums->points += points;
    sums->wins += points == 2;
    sums->draws += points == 1;
    sums->losses += points == 0;
    sums->crashes += crashed;
    sums->time_losses += strcmp(line->end, "time") == 0;
    sums->ponders[points > 0] += strcmp(line->end, "ponder") == 0;
    sums->moves += found->moves;
    sums->thought_least_ms += found->thought_least_ms;
    sums->thought_most_ms += found->thought_most_ms;
}

// What the lines of a batch are read into, one after the other.
typedef struct LineBuffer {
    GameText taken;
    char text[GAME_LINE_MAX];
} LineBuffer;

static bool replay_line(const char *text, size_t size, int number, const ReplayFacts *facts,
                        LineBuffer *buffer, Sums *sums, Error *err) {
    GameLine line;
    GameFound found;
    if (size > GAME_LINE_MAX)
        return game_is_wrong(err, number, "its line has more than 128 KiB");
    memcpy(buffer->text, text, size);
    size = game_text_take(buffer->text, size, &buffer->taken);
    json_auto_t *json = json_loadb(buffer->text, size, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json))
        return game_is_wrong(err, number, "it is no JSON object");
    if (!game_line_read(json, &buffer->taken, &line))
        return game_is_wrong(err, number, "it does not say who was white");
    if (!game_replay(&line, facts, number, &found, err))
        return false;
    add_to_sums(&line, &found, sums);
    if (facts->prints && facts->clocks[0].base_s > 0 && facts->clocks[1].base_s > 0)
        game_prints_add(facts->prints, number, line.moves, &buffer->taken);
    return true;
}

static bool pair_check(const ReplayFacts *facts, int number, Sums *sums, Error *err) {
    int points = sums->points;
    sums->points = 0;
    return points == facts->outcomes[number / 2] - '0' ||
           error_set(err, 422, "replay_mismatch",
                     "games %d and %d: %d half points for the new side, counted as %c", number,
                     number + 1, points, facts->outcomes[number / 2]);
}

// Pairs of 2 half points may be two draws, or not.
static bool results_check(const ReplayFacts *facts, int games, const Sums *sums, Error *err) {
    if ((size_t)games != 2 * strlen(facts->outcomes))
        return error_set(err, 422, "replay_mismatch", "%d games for %zu pairs", games,
                         strlen(facts->outcomes));
    return (sums->wins == facts->wins && sums->losses == facts->losses &&
            sums->draws == facts->draws) ||
           error_set(err, 422, "replay_mismatch",
                     "%d games won, %d lost and %d drawn, counted as %lld, %lld and %lld",
                     sums->wins, sums->losses, sums->draws, (long long)facts->wins,
                     (long long)facts->losses, (long long)facts->draws);
}

static bool faults_check(const ReplayFacts *facts, const Sums *sums, Error *err) {
    return (sums->crashes == facts->crashes && sums->time_losses == facts->time_losses &&
            sums->ponders[0] == facts->ponders[0] && sums->ponders[1] == facts->ponders[1]) ||
           error_set(err, 422, "replay_mismatch",
                     "%d crashes, %d time losses, %d by pondering of the new side and %d of the "
                     "base, counted as %lld, %lld, %lld and %lld",
                     sums->crashes, sums->time_losses, sums->ponders[0], sums->ponders[1],
                     (long long)facts->crashes, (long long)facts->time_losses,
                     (long long)facts->ponders[0], (long long)facts->ponders[1]);
}

// Without clocks, the games do not tell how long the engines thought.
static bool thought_check(const ReplayFacts *facts, const Sums *sums, Error *err) {
    double thought = (double)facts->thought;
    return facts->clocks[0].base_s <= 0 || facts->clocks[1].base_s <= 0 ||
           (thought >= sums->thought_least_ms && thought <= sums->thought_most_ms) ||
           error_set(err, 422, "replay_mismatch",
                     "the clocks show that the engines thought for %.1f to %.1f s, counted as "
                     "%.1f s",
                     sums->thought_least_ms / 1000, sums->thought_most_ms / 1000, thought / 1000);
}

static bool moves_check(const ReplayFacts *facts, const Sums *sums, Error *err) {
    return facts->said_moves == 0 || facts->said_moves == sums->moves ||
           error_set(err, 422, "replay_mismatch",
                     "the games have %lld moves, and what engines said was counted for %lld",
                     (long long)sums->moves, (long long)facts->said_moves);
}

bool replay_games(const char *text, size_t size, const ReplayFacts *facts, Error *err) {
    Sums sums = {0};
    LineBuffer *buffer scope(free_ptr) = xmalloc(sizeof *buffer);
    int number = 0, most = 2 * (int)strlen(facts->outcomes);
    for (const char *end = text + size; text < end && number <= most; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        if (number == most)
            return game_is_wrong(err, number, "it is one too many");
        if (!replay_line(text, (size_t)(stop - text), number, facts, buffer, &sums, err) ||
            (number % 2 && !pair_check(facts, number, &sums, err)))
            return false;
        text = stop + 1;
    }
    return results_check(facts, number, &sums, err) && faults_check(facts, &sums, err) &&
           thought_check(facts, &sums, err) && moves_check(facts, &sums, err);
}

// ---- a game that was played on ------------------------------------------------------------------

// Line `number` of the text; its size is 0 if there are fewer.
static const char *line_of(const char *text, size_t size, int number, size_t *line_size) {
    const char *end = text + size;
    for (; number > 0 && text < end; number--) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        text = newline ? newline + 1 : end;
    }
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    *line_size = (size_t)((newline ? newline : end) - text);
    return text;
}

static bool other_end_check(Game *game, int number, const OtherEnd *other, Error *err) {
    int ruled = game->plies;
    if (!game_play_text(game, other->moves, number, "its rest", err))
        return false;
    int plies = game->plies - ruled;
    if (plies > OTHER_END_PLIES_MAX)
        return game_is_wrong(err, number, "it was played on for more than 400 plies");
    if (strcmp(other->end, "open") == 0 && game_end(game) != END_NONE)
        return game_is_wrong(err, number, "its rest has an end");
    if (strcmp(other->end, "open") == 0)
        return (plies == OTHER_END_PLIES_MAX && strcmp(other->result, "*") == 0) ||
               game_is_wrong(err, number, "it has no end, and not 400 more plies");
    GameResult result = game_result_read(other->result);
    return (result != RESULT_NONE && strcmp(other->end, "adjudication") != 0 &&
            game_result_fits(game, other->end, result)) ||
           game_is_wrong(err, number, "its other result does not follow from how it ended");
}

bool replay_ending(const char *text, size_t size, const ReplayFacts *facts, int number,
                   const OtherEnd *other, EndingFound *found, Error *err) {
    GameLine line;
    size_t line_size;
    Game *game scope(free_ptr) = xmalloc(sizeof *game);
    const char *start = line_of(text, size, number, &line_size);
    if (line_size > GAME_LINE_MAX)
        return game_is_wrong(err, number, "its line has more than 128 KiB");
    json_auto_t *json = json_loadb(start, line_size, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json) || !game_line_read(json, NULL, &line) ||
        line.pair != facts->first_pair + number / 2)
        return game_is_wrong(err, number, "it cannot be read");
    if (strcmp(line.end, "adjudication") != 0)
        return game_is_wrong(err, number, "no rule ended it");
    if (!game_set_up(game, &line, facts->chess960, number, err) ||
        !game_play_text(game, line.moves, number, "the game", err) ||
        !other_end_check(game, number, other, err))
        return false;
    found->ruled_draw = game_result_read(line.result) == RESULT_DRAW;
    found->rule = strcmp(other->end, "open") == 0           ? ENDING_UNKNOWN
                  : strcmp(other->result, line.result) == 0 ? ENDING_RIGHT
                                                            : ENDING_WRONG;
    return true;
}
