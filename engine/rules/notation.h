// Moves as text: UCI and SAN, reading and writing.
#pragma once

#include "rules/movegen.h"

enum { MOVE_TEXT_MAX = 16 };

// Writes a move as UCI: e2e4, e7e8q; castling as e1g1, or as king takes rook (e1h1) if
// pos->chess960. Returns `out`.
char *move_to_uci(const Position *pos, Move move, char out[MOVE_TEXT_MAX]);
// The legal move that `text` means, or MOVE_NONE. Castling may be e1g1 in Chess960 too, if no other
// move could be meant, and king takes rook in classical chess too.
Move move_from_uci(const Position *pos, const char *text);

// SAN with the least disambiguation and + or #. `move` must be legal. Returns `out`.
char *move_to_san(const Position *pos, Move move, char out[MOVE_TEXT_MAX]);
// The same with the complete origin square: "Ng1f3", "e4xd5". Returns `out`.
char *move_to_lan(const Position *pos, Move move, char out[MOVE_TEXT_MAX]);
// The only legal move that `text` can mean, or MOVE_NONE. Accepts the spellings that PGN files
// contain: 0-0, missing x, + or #, superfluous disambiguation, "!?" suffixes, e8Q and e8=Q.
Move move_from_san(const Position *pos, const char *text);
