// Positions: set up from FEN, and changed by making moves and taking them back. Complete for
// classical chess and Chess960: the castling rights name the rooks' squares. Call rules_init() once
// before any other function of this folder.
#pragma once

#include "rules/board.h"
#include "rules/error.h"

// What position_unmake() needs to take a move back; filled by position_make().
typedef struct Undo {
    Key key, pawn_key;
    Bitboard checkers;
    Piece captured;
    uint8_t castling, rule50;
    Square en_passant;
} Undo;

// Fills the tables of this library. It may be called again. Start threads only after it returned.
void rules_init(void);

// FEN, X-FEN and Shredder-FEN; the two counters may be missing. Castling letters that do not fit
// e1/e8 with corner rooks set `chess960` by themselves, as does a true `chess960` argument. Refuses
// positions that cannot be played: not one king for each side, side not to move in check, pawns on
// rank 1 or 8, rights without their rook, more pieces than promotion can make (so that MOVES_MAX
// holds), an en passant square without its pawn. On false, `err` says what and where, and `pos` is
// undefined.
bool position_from_fen(Position *pos, const char *fen, bool chess960, Refusal *err);

enum { FEN_MAX = 128 };
// X-FEN; Shredder-FEN castling letters where pos->chess960. Returns `out`.
char *position_to_fen(const Position *pos, char out[FEN_MAX]);

extern const char POSITION_START_FEN[];

// `move` must be legal in `pos`.
void position_make(Position *pos, Move move, Undo *undo);
void position_unmake(Position *pos, Move move, const Undo *undo);
// Passes the turn (null move). The side to move must not be in check.
void position_make_null(Position *pos, Undo *undo);
void position_unmake_null(Position *pos, const Undo *undo);

// Computes keys and checkers from the pieces and the state. Making and unmaking moves updates them.
void position_refresh(Position *pos);

// Pieces of both colours that attack `s` if the squares in `occupied` block lines. The result may
// have pieces that are not in `occupied`: remove them if they are meant to be absent.
Bitboard position_attackers(const Position *pos, Square s, Bitboard occupied);
