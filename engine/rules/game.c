// The state of a game under the rules: repetition, the fifty-move rule, dead positions.

#include "rules/game.h"

#include <assert.h>

#include "rules/bitboard.h"
#include "rules/movegen.h"

#define DARK_SQUARES UINT64_C(0xaa55aa55aa55aa55) // a1 is dark

void game_init(Game *game, const Position *start) {
    game->start = game->now = *start;
    game->plies = 0;
    game->keys[0] = start->key;
}

void game_play(Game *game, Move move) {
    assert(game->plies < GAME_PLIES_MAX);
    Undo undo;
    position_make(&game->now, move, &undo);
    game->moves[game->plies++] = move;
    game->keys[game->plies] = game->now.key;
}

// Positions before the last capture or pawn move cannot be repeated.
int game_repetitions(const Game *game) {
    int oldest = 0, count = 1;
    if (game->now.rule50 < game->plies && game->now.rule50 < UINT8_MAX)
        oldest = game->plies - game->now.rule50;
    for (int i = game->plies - 2; i >= oldest; i -= 2)
        count += game->keys[i] == game->now.key;
    return count;
}

static bool bishops_on_one_color(const Position *pos) {
    Bitboard bishops = pos->by_type[BISHOP];
    return !(bishops & DARK_SQUARES) || !(bishops & ~DARK_SQUARES);
}

static bool material_is_dead(const Position *pos) {
    Bitboard minors = pos->by_type[KNIGHT] | pos->by_type[BISHOP];
    if (pos->by_type[PAWN] | pos->by_type[ROOK] | pos->by_type[QUEEN])
        return false;
    return !bitboard_many(minors) || (!pos->by_type[KNIGHT] && bishops_on_one_color(pos));
}

GameEnd game_end(const Game *game) {
    MoveList list;
    movegen_legal(&game->now, &list);
    if (list.size == 0)
        return game->now.checkers ? END_CHECKMATE : END_STALEMATE;
    if (material_is_dead(&game->now))
        return END_INSUFFICIENT_MATERIAL;
    if (game_repetitions(game) >= 3)
        return END_THREEFOLD;
    if (game->now.rule50 >= 100)
        return END_FIFTY_MOVES;
    return game->plies >= GAME_PLIES_MAX ? END_TOO_LONG : END_NONE;
}

GameResult game_result(const Game *game, GameEnd end) {
    if (end == END_NONE)
        return RESULT_NONE;
    if (end != END_CHECKMATE)
        return RESULT_DRAW;
    return game->now.side == WHITE ? RESULT_BLACK_WINS : RESULT_WHITE_WINS;
}

// A lone knight can mate only a king that its own pieces block, and queens cannot block it. Bishops
// on one colour can mate only if a knight, a pawn, or a bishop on the other colour blocks the king.
bool position_can_win(const Position *pos, Color c) {
    Bitboard ours = pos->by_color[c], theirs = pos->by_color[color_flip(c)];
    if (ours & (pos->by_type[PAWN] | pos->by_type[ROOK] | pos->by_type[QUEEN]))
        return true;
    if (ours & pos->by_type[KNIGHT])
        return bitboard_count(ours) > 2 || (theirs & ~pos->by_type[KING] & ~pos->by_type[QUEEN]);
    if (ours & pos->by_type[BISHOP])
        return !bishops_on_one_color(pos) || pos->by_type[PAWN] || pos->by_type[KNIGHT];
    return false;
}

const char *game_result_text(GameResult result) {
    static const char *const texts[] = {"*", "1-0", "0-1", "1/2-1/2"};
    return texts[result];
}

const char *game_end_text(GameEnd end) {
    static const char *const texts[] = {
        [END_NONE] = "unfinished",
        [END_CHECKMATE] = "checkmate",
        [END_STALEMATE] = "stalemate",
        [END_THREEFOLD] = "threefold repetition",
        [END_FIFTY_MOVES] = "fifty-move rule",
        [END_INSUFFICIENT_MATERIAL] = "insufficient material",
        [END_TOO_LONG] = "longest game length",
    };
    return texts[end];
}
