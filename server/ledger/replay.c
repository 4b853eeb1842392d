// See replay.h. The replay accepts an adjudicated result. Whether it was justified depends on
// scores, and a dishonest machine can invent scores.
#include "server/ledger/replay.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "engine/rules/game.h"
#include "engine/rules/notation.h"
#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/common/time_control.h"

enum { CLOCK_SLACK_MS = 100, OWED_MAX_MS = 250 };

// The record of one game.
typedef struct Line {
    const char *result, *end, *moves;
    const json_t *opening, *clocks;
    int64_t pair;
    bool new_is_white;
} Line;

// The sums over the games of a batch.
typedef struct Sums {
    int points, crashes, time_losses,
        ponders; // points of the new side in this pair, in half points
    bool new_was_white;
    int64_t moves;                            // of both sides in all games
    double thought_least_ms, thought_most_ms; // by both sides in all games
} Sums;

static bool wrong(Error *err, int line, const char *what) {
    return error_set(err, 422, "replay_mismatch", "game %d: %s", line + 1, what);
}

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

// ---- one game -----------------------------------------------------------------------------------

static bool line_read(const json_t *json, Line *line) {
    const char *color = member_text(json, "new_is");
    *line = (Line){.result = member_text(json, "result"),
                   .end = member_text(json, "end"),
                   .moves = member_text(json, "moves"),
                   .opening = json_object_get(json, "opening"),
                   .clocks = json_object_get(json, "clock_ms"),
                   .pair = json_is_integer(json_object_get(json, "pair")) ? member_int(json, "pair")
                                                                          : -1,
                   .new_is_white = strcmp(color, "white") == 0};
    return line->new_is_white || strcmp(color, "black") == 0;
}

static bool play_moves(Game *game, const char *text, int line, const char *what, Error *err) {
    char word[MOVE_TEXT_MAX];
    for (int number = 1; *text; number++) {
        size_t size = strcspn(text, " ");
        Move move = MOVE_NONE;
        snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word - 1),
                 text);
        if (size && size < sizeof word && game->plies < GAME_PLIES_MAX)
            move = move_from_uci(&game->now, word);
        if (move == MOVE_NONE)
            return error_set(err, 422, "replay_mismatch",
                             "game %d: move %d of %s, %s, is not legal", line + 1, number, what,
                             word);
        game_play(game, move);
        text += size + strspn(text + size, " ");
    }
    return true;
}

static bool set_up(Game *game, const Line *line, const ReplayFacts *facts, int number, Error *err) {
    Position start;
    Refusal why;
    if (!position_from_fen(&start, member_text(line->opening, "fen"), facts->chess960, &why))
        return wrong(err, number, "its opening is no position");
    game_init(game, &start);
    return play_moves(game, member_text(line->opening, "moves"), number, "the opening", err);
}

// The time that the mover has got until its n-th move, that of the n-th increment included.
static double granted_ms(const TimeControl *tc, int n) {
    double base = tc->base_s * (tc->moves ? 1 + n / tc->moves : 1);
    return 1000 * (base + n * tc->increment_s);
}

// The most time that the mover can have left after the n-th move.
static double clock_most_ms(const TimeControl *tc, int n) {
    return granted_ms(tc, n) * 1.001 + CLOCK_SLACK_MS;
}

// What the mover thought in its n moves is what it got and has not left. A clock that shows 0 may
// be below.
static void add_thought(double left, double granted, Sums *sums) {
    double thought = fmax(granted - left, 0);
    sums->thought_least_ms += fmax(thought * 0.999 - CLOCK_SLACK_MS, 0);
    sums->thought_most_ms += thought * 1.001 + CLOCK_SLACK_MS + (left > 0 ? 0 : OWED_MAX_MS);
}

static bool clocks_check(const Line *line, int plies, const char *tc_text, int number, Sums *sums,
                         Error *err) {
    TimeControl tc;
    Error ignored;
    if (!json_is_array(line->clocks) || json_array_size(line->clocks) != (size_t)plies)
        return wrong(err, number, "it has not one clock a move");
    if (!tc_parse(tc_text, &tc, &ignored) || tc.base_s <= 0)
        return true;
    for (int i = 0; i < plies; i++) {
        double left = json_number_value(json_array_get(line->clocks, (size_t)i));
        if (!(left >= 0 && left <= clock_most_ms(&tc, i / 2 + 1)))
            return error_set(err, 422, "replay_mismatch",
                             "game %d: %.0f ms on the clock after ply %d is impossible with %s",
                             number + 1, left, i + 1, tc_text);
        if (i >= plies - 2)
            add_thought(left, granted_ms(&tc, i / 2 + 1), sums);
    }
    return true;
}

// Whether `result` is possible if the side to move in game->now is at fault.
static bool result_fits(const Game *game, const char *end, GameResult result) {
    GameResult mover_lost = game->now.side == WHITE ? RESULT_BLACK_WINS : RESULT_WHITE_WINS;
    if (strcmp(end, "rule") == 0) {
        GameEnd by_rule = game_end(game);
        return by_rule != END_NONE && result == game_result(game, by_rule);
    }
    if (strcmp(end, "illegal") == 0)
        return result == mover_lost;
    if (strcmp(end, "time") == 0) // a draw if the opponent cannot mate
        return result == mover_lost || result == RESULT_DRAW;
    if (strcmp(end, "crash") == 0 || strcmp(end, "stall") == 0 || strcmp(end, "ponder") == 0)
        return result != RESULT_DRAW;
    return strcmp(end, "adjudication") == 0;
}

static GameResult result_read(const char *text) {
    for (int r = RESULT_WHITE_WINS; r <= RESULT_DRAW; r++)
        if (strcmp(game_result_text((GameResult)r), text) == 0)
            return (GameResult)r;
    return RESULT_NONE;
}

static int points_of_new(const Line *line, GameResult result) {
    if (result == RESULT_DRAW)
        return 1;
    return (result == RESULT_WHITE_WINS) == line->new_is_white ? 2 : 0;
}

static void add_to_sums(const Line *line, GameResult result, Sums *sums) {
    bool crashed = strcmp(line->end, "crash") == 0 || strcmp(line->end, "stall") == 0 ||
                   strcmp(line->end, "illegal") == 0;
    sums->points += points_of_new(line, result);
    sums->crashes += crashed;
    sums->time_losses += strcmp(line->end, "time") == 0;
    sums->ponders += strcmp(line->end, "ponder") == 0;
}

static bool replay_line(const json_t *json, int number, const ReplayFacts *facts, Sums *sums,
                        Error *err) {
    Line line;
    Game *game scope(free_ptr) = xmalloc(sizeof *game);
    if (!line_read(json, &line))
        return wrong(err, number, "it does not say who was white");
    if (line.pair != facts->first_pair + number / 2)
        return wrong(err, number, "it is of another pair");
    if (number % 2 && line.new_is_white == sums->new_was_white)
        return wrong(err, number, "the colours were not reversed");
    sums->new_was_white = line.new_is_white;
    if (!set_up(game, &line, facts, number, err))
        return false;
    int opening = game->plies;
    if (!play_moves(game, line.moves, number, "the game", err) ||
        !clocks_check(&line, game->plies - opening, facts->tc, number, sums, err))
        return false;
    GameResult result = result_read(line.result);
    if (result == RESULT_NONE || !result_fits(game, line.end, result))
        return wrong(err, number, "its result does not follow from how it ended");
    add_to_sums(&line, result, sums);
    sums->moves += game->plies - opening;
    return true;
}

// ---- the batch ----------------------------------------------------------------------------------

static bool pair_check(const ReplayFacts *facts, int number, Sums *sums, Error *err) {
    int points = sums->points;
    sums->points = 0;
    return points == facts->outcomes[number / 2] - '0' ||
           error_set(err, 422, "replay_mismatch",
                     "games %d and %d: %d half points for the new side, counted as %c", number,
                     number + 1, points, facts->outcomes[number / 2]);
}

static bool counts_check(const ReplayFacts *facts, int games, const Sums *sums, Error *err) {
    if ((size_t)games != 2 * strlen(facts->outcomes))
        return error_set(err, 422, "replay_mismatch", "%d games for %zu pairs", games,
                         strlen(facts->outcomes));
    return (sums->crashes == facts->crashes && sums->time_losses == facts->time_losses &&
            sums->ponders == facts->ponders) ||
           error_set(
               err, 422, "replay_mismatch",
               "%d crashes, %d time losses and %d by pondering, counted as %lld, %lld and %lld",
               sums->crashes, sums->time_losses, sums->ponders, (long long)facts->crashes,
               (long long)facts->time_losses, (long long)facts->ponders);
}

static bool has_clock(const char *tc_text) {
    TimeControl tc;
    Error ignored;
    return tc_parse(tc_text, &tc, &ignored) && tc.base_s > 0;
}

// Without clocks, the games do not tell how long the engines thought.
static bool thought_check(const ReplayFacts *facts, const Sums *sums, Error *err) {
    double thought = (double)facts->thought;
    return !has_clock(facts->tc) ||
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
    int number = 0, most = 2 * (int)strlen(facts->outcomes);
    for (const char *end = text + size; text < end && number <= most; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        if (number == most)
            return wrong(err, number, "it is one too many");
        if (stop - text > GAME_LINE_MAX)
            return wrong(err, number, "its line has more than 128 KiB");
        json_auto_t *json = json_loadb(text, (size_t)(stop - text), JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(json))
            return wrong(err, number, "it is no JSON object");
        if (!replay_line(json, number, facts, &sums, err) ||
            (number % 2 && !pair_check(facts, number, &sums, err)))
            return false;
        text = stop + 1;
    }
    return counts_check(facts, number, &sums, err) && thought_check(facts, &sums, err) &&
           moves_check(facts, &sums, err);
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
    if (!play_moves(game, other->moves, number, "its rest", err))
        return false;
    int plies = game->plies - ruled;
    if (plies > OTHER_END_PLIES_MAX)
        return wrong(err, number, "it was played on for more than 400 plies");
    if (strcmp(other->end, "open") == 0 && game_end(game) != END_NONE)
        return wrong(err, number, "its rest has an end");
    if (strcmp(other->end, "open") == 0)
        return (plies == OTHER_END_PLIES_MAX && strcmp(other->result, "*") == 0) ||
               wrong(err, number, "it has no end, and not 400 more plies");
    GameResult result = result_read(other->result);
    return (result != RESULT_NONE && strcmp(other->end, "adjudication") != 0 &&
            result_fits(game, other->end, result)) ||
           wrong(err, number, "its other result does not follow from how it ended");
}

bool replay_ending(const char *text, size_t size, const ReplayFacts *facts, int number,
                   const OtherEnd *other, EndingFound *found, Error *err) {
    Line line;
    size_t line_size;
    Game *game scope(free_ptr) = xmalloc(sizeof *game);
    const char *start = line_of(text, size, number, &line_size);
    if (line_size > GAME_LINE_MAX)
        return wrong(err, number, "its line has more than 128 KiB");
    json_auto_t *json = json_loadb(start, line_size, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json) || !line_read(json, &line) ||
        line.pair != facts->first_pair + number / 2)
        return wrong(err, number, "it cannot be read");
    if (strcmp(line.end, "adjudication") != 0)
        return wrong(err, number, "no rule ended it");
    if (!set_up(game, &line, facts, number, err) ||
        !play_moves(game, line.moves, number, "the game", err) ||
        !other_end_check(game, number, other, err))
        return false;
    found->ruled_draw = result_read(line.result) == RESULT_DRAW;
    found->rule = strcmp(other->end, "open") == 0           ? ENDING_UNKNOWN
                  : strcmp(other->result, line.result) == 0 ? ENDING_RIGHT
                                                            : ENDING_WRONG;
    return true;
}
