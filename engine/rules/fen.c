// FEN, X-FEN and Shredder-FEN, reading and writing. The reader fills a position field by field and
// then checks that a game can continue from it.

#include <stdio.h>
#include <string.h>

#include "rules/legality.h"
#include "rules/position.h"
#include "rules/text.h"

static const char *const color_names[COLOR_NB] = {"white", "black"};

// The next field of a FEN: a run of bytes that are not spaces.
typedef struct Field {
    const char *text;
    int length;
} Field;

static Field field_next(const char **fen) {
    while (char_is_space(**fen))
        ++*fen;
    Field field = {*fen, 0};
    while (field.text[field.length] && !char_is_space(field.text[field.length]))
        field.length++;
    *fen += field.length;
    return field;
}

static bool field_is_dash(Field field) {
    return field.length == 1 && field.text[0] == '-';
}

static void put_piece(Position *pos, char letter, PieceType type, Square s) {
    Color color = letter >= 'a' ? BLACK : WHITE;
    pos->board[s] = piece_make(color, type);
    pos->by_type[type] |= square_bb(s);
    pos->by_color[color] |= square_bb(s);
}

static bool read_board(Position *pos, Field field, Refusal *err) {
    int rank = 7, file = 0;
    for (int i = 0; i < field.length; i++) {
        char ch = field.text[i];
        PieceType type = piece_type_read(ch);
        if (ch == '/') {
            if (file != 8)
                return refused(err, "rank %d has %d squares instead of 8", rank + 1, file);
            if (rank-- == 0)
                return refused(err, "the board has more than 8 ranks");
            file = 0;
        } else if (ch >= '1' && ch <= '8') {
            file += ch - '0';
        } else if (type == NO_PIECE_TYPE) {
            return refused(err, "'%c' on rank %d is no piece", char_shown(ch), rank + 1);
        } else if (file < 8) {
            put_piece(pos, ch, type, square_make(file++, rank));
        } else {
            file++;
        }
        if (file > 8)
            return refused(err, "rank %d has more than 8 squares", rank + 1);
    }
    if (rank != 0 || file != 8)
        return refused(err, "the board ends on rank %d after %d squares", rank + 1, file);
    return true;
}

static bool read_side(Position *pos, Field field, Refusal *err) {
    bool white = field.length == 1 && *field.text == 'w';
    bool black = field.length == 1 && *field.text == 'b';
    pos->side = black ? BLACK : WHITE;
    if (!white && !black)
        return refused(err, "side to move is '%.*s' instead of w or b",
                       field.length < 16 ? field.length : 16, field.text);
    return true;
}

static bool check_kings(const Position *pos, Refusal *err) {
    for (Color c = WHITE; c <= BLACK; c++) {
        int kings = bitboard_count(position_pieces(pos, c, KING));
        if (kings != 1)
            return refused(err, "%s has %d kings", color_names[c], kings);
    }
    return true;
}

static int excess(const Position *pos, Color c, PieceType type, int at_start) {
    int count = bitboard_count(position_pieces(pos, c, type));
    return count > at_start ? count - at_start : 0;
}

static bool check_material(const Position *pos, Refusal *err) {
    if (pos->by_type[PAWN] & (bitboard_rank(0) | bitboard_rank(7)))
        return refused(err, "a pawn stands on rank %d",
                       pos->by_type[PAWN] & bitboard_rank(0) ? 1 : 8);
    for (Color c = WHITE; c <= BLACK; c++) {
        int pawns = bitboard_count(position_pieces(pos, c, PAWN));
        int promoted = excess(pos, c, KNIGHT, 2) + excess(pos, c, BISHOP, 2) +
                       excess(pos, c, ROOK, 2) + excess(pos, c, QUEEN, 1);
        if (pawns + promoted > 8)
            return refused(err, "%s has %d pawns and promoted pieces, more than 8", color_names[c],
                           pawns + promoted);
    }
    return true;
}

// The outermost rook on a side of the king, as X-FEN's K and Q mean it.
static Square outer_rook(const Position *pos, Color c, CastlingSide side) {
    Square king = position_king(pos, c);
    int step = side == KING_SIDE ? -1 : 1;
    Square s = square_relative(c, side == KING_SIDE ? H1 : A1);
    for (; s != king; s = (Square)(s + step))
        if (pos->board[s] == piece_make(c, ROOK))
            return s;
    return SQUARE_NONE;
}

static void add_right(Position *pos, Color c, CastlingSide side, Square rook) {
    Square king = position_king(pos, c);
    uint8_t right = castling_right(c, side);
    pos->castling |= right;
    pos->rook_home[c][side] = rook;
    pos->castling_keep[king] &= (uint8_t)~right;
    pos->castling_keep[rook] &= (uint8_t)~right;
    if (square_file(king) != E1 || square_file(rook) != (side == KING_SIDE ? H1 : A1))
        pos->chess960 = true;
}

static bool read_right(Position *pos, char letter, Refusal *err) {
    Color c = letter >= 'a' ? BLACK : WHITE;
    char lower = (char)(letter | 0x20);
    Square king = position_king(pos, c), rook = SQUARE_NONE;
    if ((lower < 'a' || lower > 'h') && lower != 'k' && lower != 'q')
        return refused(err, "'%c' is no castling right", char_shown(letter));
    if (square_rank(square_relative(c, king)) != 0)
        return refused(err, "castling right '%c', but the %s king is not on its rank", letter,
                       color_names[c]);
    CastlingSide side = lower == 'q' ? QUEEN_SIDE : KING_SIDE;
    if (lower == 'k' || lower == 'q') {
        rook = outer_rook(pos, c, side);
    } else {
        Square named = square_relative(c, (Square)(lower - 'a'));
        side = named > king ? KING_SIDE : QUEEN_SIDE;
        rook = pos->board[named] == piece_make(c, ROOK) ? named : SQUARE_NONE;
    }
    if (rook == SQUARE_NONE)
        return refused(err, "castling right '%c' has no rook", letter);
    if (pos->castling & castling_right(c, side))
        return refused(err, "castling right '%c' is given twice", letter);
    add_right(pos, c, side, rook);
    return true;
}

static bool read_castling(Position *pos, Field field, Refusal *err) {
    memset(pos->castling_keep, 0xf, sizeof pos->castling_keep);
    memset(pos->rook_home, SQUARE_NONE, sizeof pos->rook_home);
    if (field.length == 0)
        return refused(err, "castling rights are missing");
    for (int i = 0; i < field.length && !field_is_dash(field); i++)
        if (!read_right(pos, field.text[i], err))
            return false;
    return true;
}

// The square counts only if a pawn can legally take there, so that equal positions have equal keys.
static bool read_en_passant(Position *pos, Field field, Refusal *err) {
    pos->en_passant = SQUARE_NONE;
    if (field_is_dash(field))
        return true;
    Square s = field.length == 2 ? square_read(field.text) : SQUARE_NONE;
    if (s == SQUARE_NONE)
        return refused(err, "en passant square is '%.*s' instead of a square or -",
                       field.length < 16 ? field.length : 16, field.text);
    Color them = color_flip(pos->side);
    if (square_rank(square_relative(them, s)) != 2)
        return refused(err, "en passant square %.2s is on the wrong rank", field.text);
    if (pos->board[en_passant_victim(s)] != piece_make(them, PAWN) || pos->board[s] != NO_PIECE ||
        pos->board[s ^ 24] != NO_PIECE)
        return refused(err, "no pawn can just have passed en passant square %.2s", field.text);
    if (en_passant_is_possible(pos, pos->side, s))
        pos->en_passant = s;
    return true;
}

static bool read_number(Field field, const char *what, int missing, int limit, int *out,
                        Refusal *err) {
    *out = field.length == 0 ? missing : 0;
    for (int i = 0; i < field.length; i++) {
        char ch = field.text[i];
        if (ch < '0' || ch > '9')
            return refused(err, "%s has '%c' instead of a digit", what, char_shown(ch));
        *out = *out * 10 + (ch - '0');
        if (*out > limit)
            return refused(err, "%s is over %d", what, limit);
    }
    return true;
}

static bool read_counters(Position *pos, const char **fen, Refusal *err) {
    int rule50, fullmove;
    if (!read_number(field_next(fen), "halfmove clock", 0, UINT8_MAX, &rule50, err) ||
        !read_number(field_next(fen), "move number", 1, 9999, &fullmove, err))
        return false;
    pos->rule50 = (uint8_t)rule50;
    pos->fullmove = (uint16_t)(fullmove ? fullmove : 1);
    Field rest = field_next(fen);
    if (rest.length)
        return refused(err, "text after the last field: '%c'", char_shown(*rest.text));
    return true;
}

static bool check_checks(const Position *pos, Refusal *err) {
    Color them = color_flip(pos->side);
    if (attackers_of(pos, pos->side, position_king(pos, them), position_occupied(pos)))
        return refused(err, "%s is in check, and it is %s's turn", color_names[them],
                       color_names[pos->side]);
    if (bitboard_count(pos->checkers) > 2)
        return refused(err, "%s is in check from more than two pieces", color_names[pos->side]);
    return true;
}

bool position_from_fen(Position *pos, const char *fen, bool chess960, Refusal *err) {
    memset(pos, 0, sizeof *pos);
    memset(pos->board, NO_PIECE, sizeof pos->board);
    pos->chess960 = chess960;
    if (strnlen(fen, FEN_MAX) == FEN_MAX)
        return refused(err, "the FEN is longer than %d bytes", FEN_MAX - 1);
    if (!read_board(pos, field_next(&fen), err) || !read_side(pos, field_next(&fen), err) ||
        !check_kings(pos, err) || !check_material(pos, err) ||
        !read_castling(pos, field_next(&fen), err) ||
        !read_en_passant(pos, field_next(&fen), err) || !read_counters(pos, &fen, err))
        return false;
    position_refresh(pos);
    return check_checks(pos, err);
}

static char *write_board(const Position *pos, char *out) {
    for (int rank = 7; rank >= 0; rank--) {
        int empty = 0;
        for (int file = 0; file < 8; file++) {
            Piece piece = pos->board[square_make(file, rank)];
            if (piece == NO_PIECE) {
                empty++;
                continue;
            }
            if (empty)
                *out++ = (char)('0' + empty);
            empty = 0;
            char letter = rules_piece_letters[piece_type(piece)];
            *out++ = (char)(piece_color(piece) == WHITE ? letter : letter | 0x20);
        }
        if (empty)
            *out++ = (char)('0' + empty);
        if (rank)
            *out++ = '/';
    }
    return out;
}

static char *write_castling(const Position *pos, char *out) {
    if (!pos->castling)
        *out++ = '-';
    for (Color c = WHITE; c <= BLACK; c++)
        for (CastlingSide side = KING_SIDE; side <= QUEEN_SIDE; side++) {
            if (!(pos->castling & castling_right(c, side)))
                continue;
            char letter =
                pos->chess960 ? (char)('A' + square_file(pos->rook_home[c][side])) : "KQ"[side];
            *out++ = (char)(c == WHITE ? letter : letter | 0x20);
        }
    return out;
}

char *position_to_fen(const Position *pos, char out[FEN_MAX]) {
    char *end = write_board(pos, out);
    *end++ = ' ';
    *end++ = pos->side == WHITE ? 'w' : 'b';
    *end++ = ' ';
    end = write_castling(pos, end);
    *end++ = ' ';
    if (pos->en_passant == SQUARE_NONE)
        *end++ = '-';
    else
        end = square_write(pos->en_passant, end);
    snprintf(end, (size_t)(out + FEN_MAX - end), " %d %d", pos->rule50, pos->fullmove);
    return out;
}
