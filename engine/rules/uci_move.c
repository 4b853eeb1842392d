// Moves as UCI writes them: origin, target, promotion.

#include <string.h>

#include "legality.h"
#include "notation.h"
#include "text.h"

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

// The legal move with the very squares; castling is king takes rook.
static Move find_exact(const MoveList *list, Square from, Square to, PieceType promotion) {
    for (int i = 0; i < list->size; i++) {
        Move m = list->moves[i];
        bool promotes = move_kind(m) == MOVE_PROMOTION;
        if (move_from(m) == from && move_to(m) == to &&
            (promotes ? move_promotion(m) : NO_PIECE_TYPE) == promotion)
            return m;
    }
    return MOVE_NONE;
}

// The castling move that takes the king from `from` to `to`.
static Move find_castling(const Position *pos, const MoveList *list, Square from, Square to) {
    for (int i = 0; i < list->size; i++) {
        Move m = list->moves[i];
        if (move_kind(m) == MOVE_CASTLING && move_from(m) == from &&
            castling_king_to(pos->side, castling_side(m)) == to)
            return m;
    }
    return MOVE_NONE;
}

Move move_from_uci(const Position *pos, const char *text) {
    size_t length = strnlen(text, MOVE_TEXT_MAX);
    if (length != 4 && length != 5)
        return MOVE_NONE;
    Square from = square_read(text), to = square_read(text + 2);
    PieceType promotion = length == 5 ? piece_type_read(text[4]) : NO_PIECE_TYPE;
    if (from == SQUARE_NONE || to == SQUARE_NONE || (length == 5 && promotion == NO_PIECE_TYPE))
        return MOVE_NONE;
    MoveList list;
    movegen_legal(pos, &list);
    Move move = find_exact(&list, from, to, promotion);
    if (move == MOVE_NONE && length == 4)
        move = find_castling(pos, &list, from, to);
    return move;
}
