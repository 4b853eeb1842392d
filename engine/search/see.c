// Static exchange evaluation. It uses piece values only.
#include "search/see.h"

#include "rules/bitboard.h"
#include "rules/movegen.h"

const Score SEE_VALUE[8] = {100, 320, 330, 500, 950, 0, 0, 0};

PieceType move_captured_type(const Position *pos, Move move) {
    switch (move_kind(move)) {
    case MOVE_EN_PASSANT:
        return PAWN;
    case MOVE_CASTLING:
        return NO_PIECE_TYPE;
    default:
        return piece_type(pos->board[move_to(move)]);
    }
}

bool move_is_quiet(const Position *pos, Move move) {
    return move_captured_type(pos, move) == NO_PIECE_TYPE &&
           !(move_kind(move) == MOVE_PROMOTION && move_promotion(move) == QUEEN);
}

// Sliders that may attack the target once a piece between has gone.
static Bitboard xrays(const Position *pos, Square target, Bitboard occupied) {
    Bitboard queens = pos->by_type[QUEEN];
    return (attacks_bishop(target, occupied) & (pos->by_type[BISHOP] | queens)) |
           (attacks_rook(target, occupied) & (pos->by_type[ROOK] | queens));
}

static PieceType cheapest(const Position *pos, Bitboard attackers) {
    PieceType t = PAWN;
    while (!(attackers & pos->by_type[t]))
        t = (PieceType)(t + 1);
    return t;
}

bool see_at_least(const Position *pos, Move move, Score threshold) {
    if (move_kind(move) == MOVE_CASTLING)
        return threshold <= 0;
    Square from = move_from(move), to = move_to(move);
    PieceType mover = piece_type(pos->board[from]);
    // `balance`: the material of the side that has just captured, minus the threshold.
    Score balance = SEE_VALUE[move_captured_type(pos, move)] - threshold;
    if (move_kind(move) == MOVE_PROMOTION) {
        mover = move_promotion(move);
        balance += SEE_VALUE[mover] - SEE_VALUE[PAWN];
    }
    if (balance < 0)
        return false;
    balance -= SEE_VALUE[mover];
    if (balance >= 0)
        return true;

    Bitboard occupied = (position_occupied(pos) ^ 1ull << from) | 1ull << to;
    if (move_kind(move) == MOVE_EN_PASSANT)
        occupied ^= 1ull << (to ^ 8);
    Bitboard attackers = position_attackers(pos, to, occupied) & occupied;
    Color side = color_flip(pos->side);
    for (;;) {
        Bitboard ours = attackers & pos->by_color[side];
        if (!ours)
            break;
        PieceType t = cheapest(pos, ours);
        // A king must not capture a guarded piece: then its side stops.
        if (t == KING && attackers & pos->by_color[color_flip(side)])
            break;
        occupied &= ~(1ull << __builtin_ctzll(ours & pos->by_type[t]));
        attackers = (attackers | xrays(pos, to, occupied)) & occupied;
        side = color_flip(side);
        balance = -balance - 1 - SEE_VALUE[t];
        if (balance >= 0)
            break;
    }
    // The side that has stopped loses the exchange.
    return side != pos->side;
}

bool see_wins_material(const Position *pos) {
    MoveList list;
    movegen_captures(pos, &list);
    for (int i = 0; i < list.size; i++)
        if (see_at_least(pos, list.moves[i], 1))
            return true;
    return false;
}
