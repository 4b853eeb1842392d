// The rules of chess once more, slowly and by other means: squares in an array, moves made and then
// refused when the king can be taken. Shares no code with engine/rules, so that it can judge it.
#pragma once

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Naive {
    char board[64]; // FEN letters, '.' where empty; a1 first
    bool white;
    int passed;       // square behind a pawn that has just moved two, or -1
    char rooks[2][2]; // [black][queen side]: file of the castling rook, or -1
} Naive;

static inline bool naive_is_white(char piece) {
    return piece >= 'A' && piece <= 'Z';
}
static inline bool naive_is_own(const Naive *n, char piece) {
    return piece != '.' && naive_is_white(piece) == n->white;
}

static inline int naive_king(const Naive *n, bool white) {
    for (int s = 0; s < 64; s++)
        if (n->board[s] == (white ? 'K' : 'k'))
            return s;
    abort();
}

static inline void naive_right(Naive *n, char letter) {
    bool black = letter >= 'a';
    int king = naive_king(n, !black), base = black ? 56 : 0, file = tolower(letter) - 'a';
    char rook = black ? 'r' : 'R';
    if (tolower(letter) == 'k')
        for (file = 7; n->board[base + file] != rook;)
            file--;
    if (tolower(letter) == 'q')
        for (file = 0; n->board[base + file] != rook;)
            file++;
    n->rooks[black][file < king % 8] = (char)file;
}

static inline Naive naive_from_fen(const char *fen) {
    Naive n;
    memset(&n, 0, sizeof n);
    memset(n.rooks, -1, sizeof n.rooks);
    int rank = 7, file = 0;
    for (; *fen != ' '; fen++) {
        if (*fen == '/')
            rank--, file = 0;
        else if (isdigit((unsigned char)*fen))
            for (int i = *fen - '0'; i > 0; i--)
                n.board[rank * 8 + file++] = '.';
        else
            n.board[rank * 8 + file++] = *fen;
    }
    n.white = fen[1] == 'w';
    for (fen += 3; *fen != ' '; fen++)
        if (*fen != '-')
            naive_right(&n, *fen);
    n.passed = fen[1] == '-' ? -1 : (fen[2] - '1') * 8 + (fen[1] - 'a');
    return n;
}

// The square `df`, `dr` away, or -1 off the board.
static inline int naive_step(int s, int df, int dr) {
    int file = s % 8 + df, rank = s / 8 + dr;
    return file < 0 || file > 7 || rank < 0 || rank > 7 ? -1 : rank * 8 + file;
}

static const int naive_steps[16][2] = {{1, 0},   {-1, 0},  {0, 1},  {0, -1}, {1, 1},  {1, -1},
                                       {-1, 1},  {-1, -1}, {1, 2},  {2, 1},  {2, -1}, {1, -2},
                                       {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

// Whether a piece goes in direction `d`, and how far.
static inline int naive_reach(char piece, int d) {
    switch (tolower(piece)) {
    case 'k':
        return d < 8;
    case 'q':
        return d < 8 ? 7 : 0;
    case 'r':
        return d < 4 ? 7 : 0;
    case 'b':
        return d >= 4 && d < 8 ? 7 : 0;
    case 'n':
        return d >= 8;
    default:
        return 0;
    }
}

static inline bool naive_attacked(const Naive *n, int target, bool by_white) {
    for (int d = 0; d < 16; d++) {
        int s = target;
        for (int far = 1; far <= (d < 8 ? 7 : 1); far++) {
            s = naive_step(s, naive_steps[d][0], naive_steps[d][1]);
            if (s < 0)
                break;
            char piece = n->board[s];
            if (piece == '.')
                continue;
            if (naive_is_white(piece) == by_white && naive_reach(piece, d) >= far)
                return true;
            break;
        }
    }
    for (int df = -1; df <= 1; df += 2) {
        int s = naive_step(target, df, by_white ? -1 : 1);
        if (s >= 0 && n->board[s] == (by_white ? 'P' : 'p'))
            return true;
    }
    return false;
}

static inline uint64_t naive_perft(const Naive *n, int depth);

static inline void naive_lose_right(Naive *n, int s) {
    for (int black = 0; black < 2; black++)
        for (int side = 0; side < 2; side++)
            if (s == (black ? 56 : 0) + n->rooks[black][side])
                n->rooks[black][side] = -1;
}

// Plays and counts one move of a piece, unless the own king hangs afterwards.
static inline uint64_t naive_try(const Naive *n, int from, int to, char promotion, int depth) {
    Naive next = *n;
    char piece = n->board[from];
    bool pawn = tolower(piece) == 'p';
    next.board[from] = '.';
    next.board[to] = promotion ? promotion : piece;
    if (pawn && to == n->passed)
        next.board[to + (n->white ? -8 : 8)] = '.';
    next.passed = pawn && abs(to - from) == 16 ? (from + to) / 2 : -1;
    if (tolower(piece) == 'k')
        memset(next.rooks[!n->white], -1, 2);
    naive_lose_right(&next, from);
    naive_lose_right(&next, to);
    if (naive_attacked(&next, naive_king(&next, n->white), !n->white))
        return 0;
    next.white = !n->white;
    return naive_perft(&next, depth - 1);
}

static inline uint64_t naive_pawn(const Naive *n, int from, int to, int depth) {
    if (to >= 8 && to < 56)
        return naive_try(n, from, to, 0, depth);
    uint64_t nodes = 0;
    for (const char *p = n->white ? "QRBN" : "qrbn"; *p; p++)
        nodes += naive_try(n, from, to, *p, depth);
    return nodes;
}

static inline uint64_t naive_pawn_moves(const Naive *n, int from, int depth) {
    int up = n->white ? 1 : -1, one = from + 8 * up;
    uint64_t nodes = 0;
    if (n->board[one] == '.') {
        nodes += naive_pawn(n, from, one, depth);
        if (from / 8 == (n->white ? 1 : 6) && n->board[one + 8 * up] == '.')
            nodes += naive_pawn(n, from, one + 8 * up, depth);
    }
    for (int df = -1; df <= 1; df += 2) {
        int to = naive_step(from, df, up);
        if (to >= 0 && ((n->board[to] != '.' && !naive_is_own(n, n->board[to])) || to == n->passed))
            nodes += naive_pawn(n, from, to, depth);
    }
    return nodes;
}

// Castling by the letter of the law: every square that either piece crosses or enters is empty but
// for the two, and the king is safe where it stands, passes and, with all moved, arrives.
static inline uint64_t naive_castle(const Naive *n, int side, int depth) {
    int base = n->white ? 0 : 56;
    int file = (int)n->rooks[!n->white][side]; // below 0: no right
    if (file < 0)
        return 0;
    int king = naive_king(n, n->white), rook = base + file;
    int king_to = base + (side ? 2 : 6), rook_to = base + (side ? 3 : 5);
    Naive next = *n;
    next.board[king] = next.board[rook] = '.';
    for (int s = king < king_to ? king : king_to; s <= (king < king_to ? king_to : king); s++)
        if (next.board[s] != '.' || naive_attacked(n, s, !n->white))
            return 0;
    for (int s = rook < rook_to ? rook : rook_to; s <= (rook < rook_to ? rook_to : rook); s++)
        if (next.board[s] != '.')
            return 0;
    next.board[king_to] = n->board[king];
    next.board[rook_to] = n->board[rook];
    if (naive_attacked(&next, king_to, !n->white))
        return 0;
    memset(next.rooks[!n->white], -1, 2);
    next.passed = -1;
    next.white = !n->white;
    return naive_perft(&next, depth - 1);
}

static inline uint64_t naive_piece_moves(const Naive *n, int from, int depth) {
    uint64_t nodes = 0;
    for (int d = 0; d < 16; d++) {
        int to = from;
        for (int far = naive_reach(n->board[from], d); far > 0; far--) {
            to = naive_step(to, naive_steps[d][0], naive_steps[d][1]);
            if (to < 0 || naive_is_own(n, n->board[to]))
                break;
            nodes += naive_try(n, from, to, 0, depth);
            if (n->board[to] != '.')
                break;
        }
    }
    return nodes;
}

static inline uint64_t naive_perft(const Naive *n, int depth) {
    if (depth == 0)
        return 1;
    uint64_t nodes = naive_castle(n, 0, depth) + naive_castle(n, 1, depth);
    for (int s = 0; s < 64; s++) {
        if (!naive_is_own(n, n->board[s]))
            continue;
        nodes += tolower(n->board[s]) == 'p' ? naive_pawn_moves(n, s, depth)
                                             : naive_piece_moves(n, s, depth);
    }
    return nodes;
}
