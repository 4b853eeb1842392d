// Opening books in Polyglot's format. polyglot.h describes the format.
#include "rules/polyglot.h"

#include "rules/bitboard.h"
#include "rules/movegen.h"
#include "rules/polyglot_random.h"
#include "rules/text.h"

enum { ENTRY_BYTES = 16 };

Key polyglot_key(const Position *pos) {
    Key key = pos->side == WHITE ? polyglot_random[POLYGLOT_WHITE_TO_MOVE] : 0;
    for (Bitboard left = position_occupied(pos); left;) {
        Square s = bitboard_pop(&left);
        Piece piece = pos->board[s];
        int kind = 2 * piece_type(piece) + (piece_color(piece) == WHITE);
        key ^= polyglot_random[64 * kind + s];
    }
    for (Color c = WHITE; c <= BLACK; c++)
        for (CastlingSide side = KING_SIDE; side < SIDE_NB; side++)
            if (pos->castling & castling_right(c, side))
                key ^= polyglot_random[POLYGLOT_CASTLING + 2 * (int)c + (int)side];
    if (pos->en_passant != SQUARE_NONE)
        key ^= polyglot_random[POLYGLOT_EN_PASSANT + square_file(pos->en_passant)];
    return key;
}

static uint64_t read_number(const unsigned char *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static Key entry_key(const PolyglotBook *book, size_t i) {
    return read_number(book->data + i * ENTRY_BYTES, 8);
}

bool polyglot_open(PolyglotBook *book, const void *data, size_t size, Refusal *err) {
    *book = (PolyglotBook){data, size / ENTRY_BYTES};
    if (size == 0 || size % ENTRY_BYTES)
        return refused(err, "the size, %zu bytes, is not a positive multiple of 16", size);
    for (size_t i = 1; i < book->entries; i++)
        if (entry_key(book, i) < entry_key(book, i - 1))
            return refused(err, "entry %zu: the keys are not in order", i + 1);
    return true;
}

// The first entry whose key is not below `key`.
static size_t find_key(const PolyglotBook *book, Key key) {
    size_t low = 0, high = book->entries;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entry_key(book, middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// `code` has three bits each, from the lowest, for: target file, target rank, origin file, origin
// rank, promotion piece.
static Move find_move(const MoveList *legal, unsigned code) {
    Square to = (Square)(code & 63), from = (Square)(code >> 6 & 63);
    unsigned promotion = code >> 12 & 7;
    for (int i = 0; i < legal->size; i++) {
        Move move = legal->moves[i];
        bool promotes = move_kind(move) == MOVE_PROMOTION;
        if (move_from(move) != from || promotes != (promotion != 0))
            continue;
        if (promotes && promotion != (unsigned)move_promotion(move))
            continue;
        int king_to = move_to(move) > from ? from + 2 : from - 2;
        if (move_to(move) == to || (move_kind(move) == MOVE_CASTLING && king_to == to))
            return move;
    }
    return MOVE_NONE;
}

int polyglot_moves(const PolyglotBook *book, const Position *pos, PolyglotMove out[MOVES_MAX]) {
    Key key = polyglot_key(pos);
    MoveList legal;
    int count = 0;
    size_t i = find_key(book, key);
    if (i == book->entries || entry_key(book, i) != key)
        return 0;
    movegen_legal(pos, &legal);
    for (; i < book->entries && entry_key(book, i) == key && count < MOVES_MAX; i++) {
        const unsigned char *entry = book->data + i * ENTRY_BYTES;
        Move move = find_move(&legal, (unsigned)read_number(entry + 8, 2));
        if (move != MOVE_NONE)
            out[count++] = (PolyglotMove){move, (uint16_t)read_number(entry + 10, 2)};
    }
    return count;
}
