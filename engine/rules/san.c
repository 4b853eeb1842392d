// SAN, reading and writing. The writer uses the export form of the PGN standard. The reader looks
// for the only legal move that the text can mean, so it needs few rules about spelling.

#include <string.h>

#include "rules/bitboard.h"
#include "rules/legality.h"
#include "rules/notation.h"
#include "rules/text.h"

// Writes the file, the rank or both of the origin, if other pieces of the same type could go to the
// target.
static char *write_origin(const Position *pos, Move move, char *out) {
    Square from = move_from(move);
    bool rival = false, same_file = false, same_rank = false;
    MoveList list;
    movegen_legal(pos, &list);
    for (int i = 0; i < list.size; i++) {
        Square other = move_from(list.moves[i]);
        if (other == from || move_to(list.moves[i]) != move_to(move) ||
            pos->board[other] != pos->board[from])
            continue;
        rival = true;
        same_file |= square_file(other) == square_file(from);
        same_rank |= square_rank(other) == square_rank(from);
    }
    if (rival && (!same_file || same_rank))
        *out++ = (char)('a' + square_file(from));
    if (same_file)
        *out++ = (char)('1' + square_rank(from));
    return out;
}

// `whole`: write the complete origin square, as in long algebraic notation.
static char *write_piece_move(const Position *pos, Move move, bool whole, char *out) {
    Square from = move_from(move);
    PieceType type = piece_type(pos->board[from]);
    if (type != PAWN)
        *out++ = rules_piece_letters[type];
    if (whole)
        out = square_write(from, out);
    else if (type != PAWN && type != KING)
        out = write_origin(pos, move, out);
    else if (type == PAWN && move_is_capture(pos, move))
        *out++ = (char)('a' + square_file(from));
    if (move_is_capture(pos, move))
        *out++ = 'x';
    out = square_write(move_to(move), out);
    if (move_kind(move) == MOVE_PROMOTION) {
        *out++ = '=';
        *out++ = rules_piece_letters[move_promotion(move)];
    }
    return out;
}

static char *write_castling(Move move, char *out) {
    bool king_side = castling_side(move) == KING_SIDE;
    size_t length = king_side ? 3 : 5;
    memcpy(out, "O-O-O", length);
    return out + length;
}

static char *write_check(const Position *pos, Move move, char *out) {
    Position after = *pos;
    Undo undo;
    MoveList replies;
    position_make(&after, move, &undo);
    if (!after.checkers)
        return out;
    movegen_legal(&after, &replies);
    *out++ = replies.size ? '+' : '#';
    return out;
}

static char *write_move(const Position *pos, Move move, bool whole, char *out) {
    char *end = move_kind(move) == MOVE_CASTLING ? write_castling(move, out)
                                                 : write_piece_move(pos, move, whole, out);
    end = write_check(pos, move, end);
    *end = '\0';
    return out;
}

char *move_to_san(const Position *pos, Move move, char out[MOVE_TEXT_MAX]) {
    return write_move(pos, move, false, out);
}

char *move_to_lan(const Position *pos, Move move, char out[MOVE_TEXT_MAX]) {
    return write_move(pos, move, true, out);
}

// What a text says about a move. Parts that it does not name are -1 or NO_PIECE_TYPE.
typedef struct Meaning {
    PieceType piece, promotion;
    int file, rank;
    Square to;
} Meaning;

// Copies `text` without the marks that add nothing to a move. False if what is left is too long.
static bool strip_marks(const char *text, char out[MOVE_TEXT_MAX], size_t *length) {
    *length = 0;
    for (; *text; text++) {
        if (strchr("x:-=()/+#!?", *text))
            continue;
        if (*length + 1 == MOVE_TEXT_MAX)
            return false;
        out[(*length)++] = *text;
    }
    out[*length] = '\0';
    return true;
}

// The side of a castling text, whether written with letters or zeros; SIDE_NB if it is none.
static CastlingSide read_castling(const char *core, size_t length) {
    if (strspn(core, "O0o") != length)
        return SIDE_NB;
    return length == 2 ? KING_SIDE : length == 3 ? QUEEN_SIDE : SIDE_NB;
}

// Reads promotion and target from the end of the text, the piece from its start, and the origin
// between them.
static bool read_meaning(const char *core, size_t length, Meaning *out) {
    *out = (Meaning){PAWN, NO_PIECE_TYPE, -1, -1, SQUARE_NONE};
    if (length > 2 && core[length - 1] > '9')
        out->promotion = piece_type_read(core[--length]);
    if (core[0] >= 'A' && core[0] <= 'Z') {
        out->piece = piece_type_read(core[0]);
        core++, length--;
    }
    if (length < 2 || length > 4 || out->piece == NO_PIECE_TYPE)
        return false;
    out->to = square_read(core + length - 2);
    const char *at = core, *target = core + length - 2;
    if (at < target && *at >= 'a' && *at <= 'h')
        out->file = *at++ - 'a';
    if (at < target && *at >= '1' && *at <= '8')
        out->rank = *at++ - '1';
    return at == target && out->to != SQUARE_NONE;
}

static bool move_has_meaning(const Position *pos, Move move, const Meaning *m) {
    Square from = move_from(move);
    PieceType promotion = move_kind(move) == MOVE_PROMOTION ? move_promotion(move) : NO_PIECE_TYPE;
    return move_kind(move) != MOVE_CASTLING && move_to(move) == m->to &&
           piece_type(pos->board[from]) == m->piece && promotion == m->promotion &&
           (m->file < 0 || square_file(from) == m->file) &&
           (m->rank < 0 || square_rank(from) == m->rank);
}

static bool move_fits(const Position *pos, Move move, CastlingSide side, const Meaning *meaning) {
    if (side == SIDE_NB)
        return move_has_meaning(pos, move, meaning);
    return move_kind(move) == MOVE_CASTLING && castling_side(move) == side;
}

Move move_from_san(const Position *pos, const char *text) {
    char core[MOVE_TEXT_MAX];
    size_t length;
    Meaning meaning = {0};
    if (!strip_marks(text, core, &length) || length < 2)
        return MOVE_NONE;
    CastlingSide side = read_castling(core, length);
    if (side == SIDE_NB && !read_meaning(core, length, &meaning))
        return MOVE_NONE;
    MoveList list;
    movegen_legal(pos, &list);
    Move found = MOVE_NONE;
    for (int i = 0; i < list.size; i++) {
        if (!move_fits(pos, list.moves[i], side, &meaning))
            continue;
        if (found != MOVE_NONE)
            return MOVE_NONE;
        found = list.moves[i];
    }
    return found;
}
