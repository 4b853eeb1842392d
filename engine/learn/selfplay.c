// Self-play: openings, moves, and adjudication.
#include "learn/selfplay.h"

#include <stdlib.h>

#include "base/random.h"
#include "commands/opening.h"

static bool is_stopped(const Selfplay *player) {
    return atomic_load_explicit(player->stop, memory_order_relaxed);
}

static SearchResult think(Selfplay *player, const Root *root, const SearchLimits *limits) {
    search_prepare(player->search, root, limits);
    return search_run(player->search);
}

// ---- openings ----------------------------------------------------------------------------------

enum { BOOK_TRIES = 100 }; // for a book in which all lines are decided

// False if the drawn line or position cannot be used as an opening.
static bool opening_draw(const SelfplayRules *rules, uint64_t *random, int try, Position *pos) {
    bool from_book =
        rules->book && try < BOOK_TRIES && random_below(random, 100) < rules->book_percent;
    if (from_book) {
        size_t index = (size_t)(random_next(random) >> 8) % rules->book->count;
        epd_book_position(rules->book, index, pos);
    } else {
        opening_start(random, rules->chess960, pos);
    }
    return opening_walk(random, from_book ? OPENING_BOOK_PLIES : OPENING_PLIES, pos);
}

static bool opening_is_even(Selfplay *player, const Position *pos) {
    const SearchLimits limits = {.nodes = OPENING_NODES};
    Root root;
    root_init(&root, pos);
    search_clear(player->search);
    return abs(think(player, &root, &limits).score) <= OPENING_SCORE_MAX;
}

// Sets up the game. The entries that the judging search left in the table belong to this game and
// are kept.
static void opening_play(Selfplay *player, uint64_t number) {
    uint64_t random = random_stream(player->rules->seed, number);
    for (int try = 0;; try++) {
        Position pos;
        if (!opening_draw(player->rules, &random, try, &pos))
            continue;
        game_init(&player->game, &pos);
        if (game_end(&player->game) == END_NONE && opening_is_even(player, &pos))
            return;
        if (is_stopped(player))
            return;
    }
}

void selfplay_openings_text(const SelfplayRules *rules, char *out, size_t size) {
    int length =
        snprintf(out, size, "%d-%d random plies%s, |score| <= %d", OPENING_PLIES, OPENING_PLIES + 1,
                 rules->chess960 ? " of Chess960" : "", OPENING_SCORE_MAX);
    if (rules->book && length >= 0 && (size_t)length < size)
        snprintf(out + length, size - (size_t)length, "; %d %% from book %.16s, %d-%d plies on",
                 rules->book_percent, rules->book->sha256, OPENING_BOOK_PLIES,
                 OPENING_BOOK_PLIES + 1);
}

void selfplay_ends_text(char *out, size_t size) {
    snprintf(out, size, "|score| >= %d for %d plies, or <= %d for %d from ply %d", WIN_SCORE,
             WIN_PLIES, DRAW_SCORE, DRAW_PLIES, DRAW_FROM_PLY);
}

// ---- moves -------------------------------------------------------------------------------------

// How many times in a row the score was winning, losing or drawn.
typedef struct Streaks {
    int white, black, level;
} Streaks;

// Decides a game by its scores. `score` is White's view, before the move at `ply` of the complete
// game.
static GameResult adjudicate(Streaks *streaks, Score score, int ply) {
    streaks->white = score >= WIN_SCORE ? streaks->white + 1 : 0;
    streaks->black = score <= -WIN_SCORE ? streaks->black + 1 : 0;
    streaks->level = ply >= DRAW_FROM_PLY && abs(score) <= DRAW_SCORE ? streaks->level + 1 : 0;
    if (streaks->white >= WIN_PLIES)
        return RESULT_WHITE_WINS;
    if (streaks->black >= WIN_PLIES)
        return RESULT_BLACK_WINS;
    return streaks->level >= DRAW_PLIES ? RESULT_DRAW : RESULT_NONE;
}

// Plays the moves. RESULT_NONE if the run was stopped.
static GameResult moves_play(Selfplay *player, GameFileRecord *out) {
    Game *game = &player->game;
    Streaks streaks = {0};
    Root root;
    root_init(&root, &game->start);
    for (;;) {
        GameEnd end = game_end(game);
        if (end != END_NONE)
            return game_result(game, end);
        SearchResult found = think(player, &root, &player->rules->limits);
        if (is_stopped(player))
            return RESULT_NONE;
        Score score = game->now.side == WHITE ? found.score : -found.score;
        int ply = game_record_ply(out, game->plies);
        out->moves[out->plies++] = (ScoredMove){found.best, (int16_t)score};
        game_play(game, found.best);
        root_play(&root, found.best);
        GameResult verdict = adjudicate(&streaks, score, ply);
        // A game that the move has ended by the rules keeps the result of the rules.
        if (verdict != RESULT_NONE && game_end(game) == END_NONE)
            return verdict;
    }
}

bool selfplay_game(Selfplay *player, uint64_t number, GameFileRecord *out) {
    static const int half_points[] = {
        [RESULT_WHITE_WINS] = 2, [RESULT_BLACK_WINS] = 0, [RESULT_DRAW] = 1};
    opening_play(player, number);
    out->start = player->game.start;
    out->plies = 0;
    GameResult result = is_stopped(player) ? RESULT_NONE : moves_play(player, out);
    if (result == RESULT_NONE)
        return false;
    out->result = half_points[result];
    return true;
}
