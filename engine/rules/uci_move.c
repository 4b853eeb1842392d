// Moves in UCI notation: origin, target, promotion.

#include <string.h>

#include "rules/legality.h"
#include "rules/notation.h"
#include "rules/text.h"

char *move_to_uci(const Position *pos, Move move, char out[MOVE_TEXT_MAX]) {
    if (move == MOVE_NONE)
        return memcpy(out, "0000", 5);
    Square from = move_from(move), to = move_to(move);
    if (move_kind(move) == MOVE_CASTLING && !pos->chess960)
        to = castling_king_to(pos->side, castling_side(move));
    char *end = square_write(to, square_write(from, out));
    if (move_kind(move) == MOVE_PROMOTION)
        *end++ = (char)(rules_piece_letters[move_promotion(move)] | 0x20);
    *end = '\0';
    return out;
}

// The move that the text names, if it names squares; castling is king takes rook. It may be
// illegal.
static Move read_exact(const Position *pos, Square from, Square to, PieceType promotion) {
    PieceType mover = piece_type(pos->board[from]);
    if (promotion != NO_PIECE_TYPE)
        return move_make_promotion(from, to, promotion);
    if (mover == PAWN && to == pos->en_passant)
        return move_make_kind(from, to, MOVE_EN_PASSANT);
    if (mover == KING && pos->board[to] == piece_make(pos->side, ROOK))
        return move_make_kind(from, to, MOVE_CASTLING);
    return move_make(from, to);
}

// The castling move that takes the king from `from` to `to`.
static Move find_castling(const Position *pos, Square from, Square to) {
    for (CastlingSide side = KING_SIDE; side <= QUEEN_SIDE; side++) {
        Square rook = pos->rook_home[pos->side][side];
        if (rook == SQUARE_NONE || castling_king_to(pos->side, side) != to)
            continue;
        Move move = move_make_kind(from, rook, MOVE_CASTLING);
        if (move_is_legal(pos, move))
            return move;
    }
    return MOVE_NONE;
}

Move move_from_uci(const Position *pos, const char *text) {
    size_t length = strnlen(text, MOVE_TEXT_MAX);
    if (length != 4 && length != 5)
        return MOVE_NONE;
    Square from = square_read(text), to = square_read(text + 2);
    PieceType promotion = length == 5 ? piece_type_read(text[4]) : NO_PIECE_TYPE;
    bool promotes = promotion >= KNIGHT && promotion <= QUEEN;
    if (from == SQUARE_NONE || to == SQUARE_NONE || (length == 5 && !promotes))
        return MOVE_NONE;
    Move move = read_exact(pos, from, to, promotion);
    if (move_is_legal(pos, move))
        return move;
    return length == 4 ? find_castling(pos, from, to) : MOVE_NONE;
}
