// See replay_game.h.
#include "server/ledger/replay_game.h"

#include <math.h>
#include <string.h>

#include "engine/rules/notation.h"
#include "server/common/json_member.h"
#include "server/common/str.h"

// Clocks are rounded to milliseconds, and a clock that shows 0 may be below it by the margin.
// Scores beyond SCORE_CP_MAX are mates.
enum { CLOCK_STEP_SLACK_MS = 2, CLOCK_SLACK_MS = 100, OWED_MAX_MS = 250 };
enum { SCORE_CP_MAX = 900000, SCORE_MATE_CP = 1000000 };

bool game_is_wrong(Error *err, int number, const char *what) {
    return error_set(err, 422, "replay_mismatch", "game %d: %s", number + 1, what);
}

// ---- the line -----------------------------------------------------------------------------------

bool game_line_read(const json_t *json, const GameText *text, GameLine *line) {
    const char *color = member_text(json, "new_is");
    *line = (GameLine){
        .result = member_text(json, "result"),
        .end = member_text(json, "end"),
        .moves = text && text->has_moves ? text->moves : member_text(json, "moves"),
        .opening = json_object_get(json, "opening"),
        .text = text,
        .flag_ms =
            json_is_integer(json_object_get(json, "flag_ms")) ? member_int(json, "flag_ms") : -1,
        .pair = json_is_integer(json_object_get(json, "pair")) ? member_int(json, "pair") : -1,
        .new_is_white = strcmp(color, "white") == 0};
    return line->new_is_white || strcmp(color, "black") == 0;
}

// The first game of a pair has the new side with White.
static bool is_as_dealt(const GameLine *line, const ReplayFacts *facts, int number, Error *err) {
    const json_t *dealt = json_array_get(facts->openings, (size_t)number / 2);
    if (line->pair != facts->first_pair + number / 2)
        return game_is_wrong(err, number, "it is of another pair");
    if (line->new_is_white != (number % 2 == 0))
        return game_is_wrong(err, number, "its colours are not those of its place in the pair");
    return (strcmp(member_text(line->opening, "fen"), member_text(dealt, "fen")) == 0 &&
            strcmp(member_text(line->opening, "moves"), member_text(dealt, "moves")) == 0) ||
           game_is_wrong(err, number, "its opening is not the one that was dealt for the pair");
}

static bool lists_check(const GameLine *line, int plies, int number, Error *err) {
    for (int i = 0; i < LIST_COUNT; i++)
        if (line->text->counts[i] != plies)
            return game_is_wrong(err, number,
                                 "it has not one clock, score, depth and count a move");
    return true;
}

// Null, if the list is too short.
static int64_t number_at(const GameLine *line, GameListName name, int ply) {
    const GameText *text = line->text;
    return ply < text->counts[name] ? text->values[name][ply] : GAME_LIST_NULL;
}

// ---- moves --------------------------------------------------------------------------------------

// Plays the next word of *text. False: it is no legal move.
static bool play_word(Game *game, const char **text, char word[MOVE_TEXT_MAX]) {
    size_t size = strcspn(*text, " ");
    Move move = MOVE_NONE;
    size_t kept = size < MOVE_TEXT_MAX ? size : MOVE_TEXT_MAX - 1;
    memcpy(word, *text, kept);
    word[kept] = 0;
    if (size && size < MOVE_TEXT_MAX && game->plies < GAME_PLIES_MAX)
        move = move_from_uci(&game->now, word);
    if (move == MOVE_NONE)
        return false;
    game_play(game, move);
    *text += size + strspn(*text + size, " ");
    return true;
}

static bool illegal(Error *err, int number, int move, const char *what, const char *word) {
    return error_set(err, 422, "replay_mismatch", "game %d: move %d of %s, %s, is not legal",
                     number + 1, move, what, word);
}

bool game_play_text(Game *game, const char *text, int number, const char *what, Error *err) {
    char word[MOVE_TEXT_MAX];
    for (int move = 1; *text; move++)
        if (!play_word(game, &text, word))
            return illegal(err, number, move, what, word);
    return true;
}

bool game_set_up(Game *game, const GameLine *line, bool chess960, int number, Error *err) {
    Position start;
    Refusal why;
    if (!position_from_fen(&start, member_text(line->opening, "fen"), chess960, &why))
        return game_is_wrong(err, number, "its opening is no position");
    game_init(game, &start);
    return game_play_text(game, member_text(line->opening, "moves"), number, "the opening", err);
}

// ---- clocks -------------------------------------------------------------------------------------

// A side's clock: what it shows after its last move.
typedef struct SideClock {
    const TimeControl *tc; // base_s 0: none
    double left_ms;
    int moves;
} SideClock;

static double added_ms(const TimeControl *tc, int move) {
    bool period = tc->moves && move % tc->moves == 0;
    return 1000 * (tc->increment_s + (period ? tc->base_s : 0));
}

// A clock never gains more than the increment.
static bool clock_step(SideClock *clock, double left_ms) {
    clock->moves++;
    if (clock->tc->base_s <= 0)
        return true;
    double most = clock->left_ms + added_ms(clock->tc, clock->moves) + CLOCK_STEP_SLACK_MS;
    clock->left_ms = left_ms;
    return left_ms >= 0 && left_ms <= most;
}

// What a side thought in its n moves is what it got and has not left.
static void add_thought(const SideClock *clock, GameFound *found) {
    const TimeControl *tc = clock->tc;
    if (tc->base_s <= 0 || !clock->moves)
        return;
    double base = tc->base_s * (tc->moves ? 1 + clock->moves / tc->moves : 1);
    double granted = 1000 * (base + clock->moves * tc->increment_s);
    double thought = fmax(granted - clock->left_ms, 0);
    found->thought_least_ms += fmax(thought * 0.999 - CLOCK_SLACK_MS, 0);
    found->thought_most_ms +=
        thought * 1.001 + CLOCK_SLACK_MS + (clock->left_ms > 0 ? 0 : OWED_MAX_MS);
}

// A flag that fell shows: the loser thought about the move that is missing for at least as long as
// its clock allowed. A clock that shows 0 may be below it by as much as the margin allows.
static bool flag_check(const SideClock *clock, int64_t margin_ms, const GameLine *line, int number,
                       GameFound *found, Error *err) {
    const TimeControl *tc = clock->tc;
    double allowed = tc->base_s > 0 ? clock->left_ms + (clock->left_ms > 0 ? (double)margin_ms : 0)
                                    : 1000 * tc->move_s;
    double flag = (double)line->flag_ms;
    if (tc->base_s <= 0 && tc->move_s <= 0)
        return game_is_wrong(err, number, "it was lost on time without a clock");
    found->thought_least_ms += flag;
    found->thought_most_ms += flag + 1;
    return (line->flag_ms >= 0 && flag >= allowed - CLOCK_STEP_SLACK_MS) ||
           error_set(err, 422, "replay_mismatch",
                     "game %d: it was lost on time after %.0f ms, when %.0f ms were allowed",
                     number + 1, flag, allowed);
}

// ---- the game -----------------------------------------------------------------------------------

typedef struct Play {
    const GameLine *line;
    Game game;
    int opening; // its plies
    int number;
    SideClock clocks[2]; // of the new side and of the base side
    Adjudicator adjudicator;
    Decision decision; // after the last move
    GameEnd by_rule;
} Play;

static bool move_clock(Play *play, bool new_moves, int ply, Error *err) {
    SideClock *clock = &play->clocks[!new_moves];
    char text[TC_TEXT_MAX];
    int64_t shown = number_at(play->line, LIST_CLOCKS, ply);
    double left = shown == GAME_LIST_NULL ? 0 : (double)shown;
    return clock_step(clock, left) ||
           error_set(err, 422, "replay_mismatch",
                     "game %d: %.0f ms on the clock after ply %d is impossible with %s",
                     play->number + 1, left, ply + 1, tc_text(clock->tc, text));
}

static bool move_score(Play *play, Color mover, int ply, Error *err) {
    int64_t shown = number_at(play->line, LIST_SCORES, ply);
    bool has_score = shown != GAME_LIST_NULL;
    int64_t score = has_score ? shown : 0;
    if (score > SCORE_MATE_CP || score < -SCORE_MATE_CP)
        return game_is_wrong(err, play->number, "a score of it is no score");
    AdjudicatedMove move = {.by_white = mover == WHITE,
                            .resets = play->game.now.rule50 == 0,
                            .has_score = has_score,
                            .mates = score > SCORE_CP_MAX || score < -SCORE_CP_MAX,
                            .score = (int)score,
                            .number = play->game.now.fullmove - 1,
                            .plies = ply + 1};
    play->decision = adjudicate(&play->adjudicator, &move);
    return true;
}

static bool play_moves(Play *play, Error *err) {
    char word[MOVE_TEXT_MAX];
    const char *text = play->line->moves;
    for (int ply = 0; *text; ply++) {
        Color mover = play->game.now.side;
        if (play->by_rule != END_NONE || play->decision != DECISION_NONE)
            return error_set(err, 422, "replay_mismatch", "game %d: it was over after ply %d",
                             play->number + 1, ply);
        if (!play_word(&play->game, &text, word))
            return illegal(err, play->number, ply + 1, "the game", word);
        play->by_rule = game_end(&play->game);
        if (!move_clock(play, (mover == WHITE) == play->line->new_is_white, ply, err) ||
            (play->by_rule == END_NONE && !move_score(play, mover, ply, err)))
            return false;
    }
    return lists_check(play->line, play->game.plies - play->opening, play->number, err);
}

// ---- the result ---------------------------------------------------------------------------------

GameResult game_result_read(const char *text) {
    for (int r = RESULT_WHITE_WINS; r <= RESULT_DRAW; r++)
        if (strcmp(game_result_text((GameResult)r), text) == 0)
            return (GameResult)r;
    return RESULT_NONE;
}

static GameResult win_of(Color side) {
    return side == WHITE ? RESULT_WHITE_WINS : RESULT_BLACK_WINS;
}

// A side that computed in its opponent's time loses, whatever the board says.
static bool is_ponder(const char *end) {
    return strcmp(end, "ponder") == 0;
}

bool game_result_fits(const Game *game, const char *end, GameResult result) {
    Color mover = game->now.side;
    if (is_ponder(end))
        return result == RESULT_WHITE_WINS || result == RESULT_BLACK_WINS;
    GameEnd by_rule = game_end(game);
    if (strcmp(end, "rule") == 0 || by_rule != END_NONE)
        return strcmp(end, "rule") == 0 && by_rule != END_NONE &&
               result == game_result(game, by_rule);
    if (strcmp(end, "illegal") == 0)
        return result == win_of(color_flip(mover));
    if (strcmp(end, "time") == 0) // a draw if the opponent cannot mate
        return result == (position_can_win(&game->now, color_flip(mover))
                              ? win_of(color_flip(mover))
                              : RESULT_DRAW);
    return (strcmp(end, "crash") == 0 || strcmp(end, "stall") == 0) &&
           (result == RESULT_WHITE_WINS || result == RESULT_BLACK_WINS);
}

// The mover of the last move resigned, or the game is a draw.
static bool decision_fits(const Play *play, GameResult result) {
    if (strcmp(play->line->end, "adjudication") != 0)
        return (play->decision == DECISION_NONE || is_ponder(play->line->end)) &&
               game_result_fits(&play->game, play->line->end, result);
    return play->decision == DECISION_RESIGNS
               ? result == win_of(play->game.now.side)
               : play->decision != DECISION_NONE && result == RESULT_DRAW;
}

bool game_replay(const GameLine *line, const ReplayFacts *facts, int number, GameFound *found,
                 Error *err) {
    if (!is_as_dealt(line, facts, number, err))
        return false;
    Play *play scope(free_ptr) = xcalloc(1, sizeof *play);
    play->line = line;
    play->number = number;
    play->by_rule = END_NONE;
    play->adjudicator.rules = &facts->rules;
    for (int i = 0; i < 2; i++)
        play->clocks[i] = (SideClock){&facts->clocks[i], 1000 * facts->clocks[i].base_s, 0};
    if (!game_set_up(&play->game, line, facts->chess960, number, err))
        return false;
    play->opening = play->game.plies;
    if (!play_moves(play, err))
        return false;
    *found = (GameFound){.result = game_result_read(line->result),
                         .moves = play->game.plies - play->opening};
    for (int i = 0; i < 2; i++)
        add_thought(&play->clocks[i], found);
    bool new_to_move = (play->game.now.side == WHITE) == line->new_is_white;
    if (strcmp(line->end, "time") == 0 &&
        !flag_check(&play->clocks[!new_to_move], facts->margin_ms[!new_to_move], line, number,
                    found, err))
        return false;
    return decision_fits(play, found->result) ||
           game_is_wrong(err, number, "its result does not follow from how it ended");
}
