// A game: a start position, the moves played since, and its state under the rules. The referee of a
// match and the PGN reader both use it.
#pragma once

#include "rules/position.h"

enum { GAME_PLIES_MAX = 2048 };

typedef enum { RESULT_NONE, RESULT_WHITE_WINS, RESULT_BLACK_WINS, RESULT_DRAW } GameResult;

typedef enum {
    END_NONE, // the game goes on
    END_CHECKMATE,
    END_STALEMATE,
    END_THREEFOLD,
    END_FIFTY_MOVES,
    END_INSUFFICIENT_MATERIAL,
    END_TOO_LONG, // GAME_PLIES_MAX reached: a draw
} GameEnd;

typedef struct Game {
    Position start, now;
    int plies;
    Move moves[GAME_PLIES_MAX];
    Key keys[GAME_PLIES_MAX + 1]; // keys[i]: position before move i
} Game;

// A Game has about 25 kB. Do not put it on a small stack.
void game_init(Game *game, const Position *start);
// Plays a legal move; at most GAME_PLIES_MAX of them.
void game_play(Game *game, Move move);

// Whether and how the game has ended by the rules. Mate has priority over the fifty-move rule.
// Insufficient material is FIDE 5.2.2 for material alone: K v K, K+minor v K, and any number of
// bishops all on squares of one colour.
GameEnd game_end(const Game *game);
// The result that `end` means in game->now (checkmate: the side to move has lost).
GameResult game_result(const Game *game, GameEnd end);
// How often the current position has occurred in the game, this time included.
int game_repetitions(const Game *game);
// True if `c` has enough material to mate. If it is false, a loss on time of the opponent is a
// draw.
bool position_can_win(const Position *pos, Color c);

const char *game_result_text(GameResult result); // "1-0", "0-1", "1/2-1/2", "*"
const char *game_end_text(GameEnd end);          // "checkmate", "threefold repetition", …
