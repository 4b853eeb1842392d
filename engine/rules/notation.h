// Moves as text: UCI and SAN, reading and writing.
#pragma once

#include "rules/movegen.h"

enum { MOVE_TEXT_MAX = 16 };

// UCI: e2e4, e7e8q; castling e1g1, or king takes rook (e1h1) where pos->chess960. Returns `out`.
char *move_to_uci(const Position *pos, Move move, char out[MOVE_TEXT_MAX]);
// The legal move that `text` names, else MOVE_NONE. Accepts e1g1 for castling also in Chess960
// positions where nothing else could be meant, and king takes rook in classical ones.
Move move_from_uci(const Position *pos, const char *text);

// SAN with the least disambiguation and + or #. `move` must be legal. Returns `out`.
char *move_to_san(const Position *pos, Move move, char out[MOVE_TEXT_MAX]);
// The same with the whole origin: "Ng1f3", "e4xd5". Returns `out`.
char *move_to_lan(const Position *pos, Move move, char out[MOVE_TEXT_MAX]);
// The one legal move that `text` names, else MOVE_NONE. Lenient on what PGN files hold: 0-0,
// missing x, + or #, superfluous disambiguation, "!?" suffixes, e8Q and e8=Q.
Move move_from_san(const Position *pos, const char *text);
