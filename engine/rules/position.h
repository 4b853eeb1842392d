// A chess position and the only ways to change it. Complete for classical chess and Chess960: the
// castling rights name the rooks' squares. Call rules_init() once before anything else here.
#pragma once

#include "rules/error.h"
#include "rules/types.h"

// One bit a right: the castling rook of `color` on the given side of its king.
typedef enum { KING_SIDE, QUEEN_SIDE, SIDE_NB } CastlingSide;
static inline uint8_t castling_right(Color c, CastlingSide side) {
    return (uint8_t)(1 << (c * 2 + side));
}

typedef struct Position {
    Bitboard by_type[PIECE_TYPE_NB];
    Bitboard by_color[COLOR_NB];
    Piece board[SQUARE_NB];
    Key key;           // of all that threefold repetition compares
    Key pawn_key;      // of the pawns alone
    Bitboard checkers; // pieces that give check to the side to move
    // Fixed when the position is set up; `castling` says which rights are left.
    Square rook_home[COLOR_NB][SIDE_NB]; // where a castling rook starts; SQUARE_NONE without right
    uint8_t castling_keep[SQUARE_NB];    // rights that survive a move from or to the square
    uint8_t castling;                    // bits of castling_right()
    Square en_passant; // target square, set only if a legal en passant capture exists, else
                       // SQUARE_NONE
    uint8_t rule50;    // plies since the last capture or pawn move; stays at 255
    uint16_t fullmove; // as in FEN
    Color side;        // to move
    bool chess960;     // how castling is written and read (FEN, UCI)
} Position;

// What a move destroys; filled by position_make, consumed by position_unmake.
typedef struct Undo {
    Key key, pawn_key;
    Bitboard checkers;
    Piece captured;
    uint8_t castling, rule50;
    Square en_passant;
} Undo;

// Fills the tables of this library; cheap and idempotent. Threads may start after it returned.
void rules_init(void);

// FEN, X-FEN and Shredder-FEN; the two counters may be missing. Castling letters that do not fit
// e1/e8 with corner rooks set `chess960` by themselves, as does a true `chess960` argument. Refuses
// what cannot be played on: not one king a side, side not to move in check, pawns on rank 1 or 8,
// rights without their rook, more men than promotion can make (so that MOVES_MAX holds), an en
// passant square without its pawn. On false, `err` says what and where, and `pos` is undefined.
bool position_from_fen(Position *pos, const char *fen, bool chess960, Refusal *err);

enum { FEN_MAX = 128 };
// X-FEN; Shredder-FEN castling letters where pos->chess960. Returns `out`.
char *position_to_fen(const Position *pos, char out[FEN_MAX]);

extern const char POSITION_START_FEN[];

// `move` must be legal in `pos`.
void position_make(Position *pos, Move move, Undo *undo);
void position_unmake(Position *pos, Move move, const Undo *undo);
// Passes the move (null move); the side to move must not be in check.
void position_make_null(Position *pos, Undo *undo);
void position_unmake_null(Position *pos, const Undo *undo);

// Keys and checkers anew from the pieces and the state; make and unmake keep them up by themselves.
void position_refresh(Position *pos);

// Pieces of both colours that attack `s` when `occupied` is what blocks lines. A piece that is not
// in `occupied` still attacks: mask it out where it is meant to be gone.
Bitboard position_attackers(const Position *pos, Square s, Bitboard occupied);

static inline Bitboard position_occupied(const Position *pos) {
    return pos->by_color[WHITE] | pos->by_color[BLACK];
}
static inline Bitboard position_pieces(const Position *pos, Color c, PieceType t) {
    return pos->by_color[c] & pos->by_type[t];
}
static inline Square position_king(const Position *pos, Color c) {
    return (Square)__builtin_ctzll(position_pieces(pos, c, KING));
}
