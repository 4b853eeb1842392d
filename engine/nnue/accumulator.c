// Accumulators. A move records which features it changes; the sums are computed when the net is
// evaluated.
#include "nnue/accumulator.h"

#include "nnue/bytes.h"
#include "nnue/kernel.h"

#include <string.h>

#include "rules/bitboard.h"

void accumulators_restart(Accumulators *accumulators) {
    Accumulator *root = &accumulators->stack[0];
    accumulators->top = 0;
    root->is_computed[WHITE] = root->is_computed[BLACK] = false;
}

Accumulators *accumulators_new(const Network *net) {
    Accumulators *accumulators = net_allocate(sizeof *accumulators);
    accumulators->net = net;
    for (int view = WHITE; view <= BLACK; view++)
        for (int king = 0; king < 64; king++) // the cache of an empty board
            memcpy(accumulators->cache[view][king].values, net->bias, sizeof net->bias);
    return accumulators;
}

// ---- moves -------------------------------------------------------------------------------------

static void add_change(Accumulator *to, Piece piece, Square from, Square square) {
    to->changes[to->change_count++] = (NetChange){piece, from, square};
}

static void king_moves(Accumulator *to, const Network *net, Color us, Square from, Square square) {
    to->is_refreshed[us] =
        net->row_class[net_square(us, from)] != net->row_class[net_square(us, square)];
}

// Records the changes of castling: the king goes to file g or c, the rook to file f or d.
static void push_castling(Accumulator *to, const Network *net, Color us, Move move) {
    bool king_side = move_to(move) > move_from(move);
    king_moves(to, net, us, move_from(move), square_relative(us, king_side ? G1 : C1));
    add_change(to, piece_make(us, ROOK), move_to(move), square_relative(us, king_side ? F1 : D1));
}

static void push_normal(Accumulator *to, const Network *net, const Position *pos, Move move) {
    Square from = move_from(move), square = move_to(move);
    Piece piece = pos->board[from];
    bool is_en_passant = move_kind(move) == MOVE_EN_PASSANT;
    Square victim = is_en_passant ? square ^ 8 : square;
    if (piece_type(piece) == KING) {
        king_moves(to, net, pos->side, from, square);
    } else if (move_kind(move) == MOVE_PROMOTION) {
        add_change(to, piece, from, SQUARE_NONE);
        add_change(to, piece_make(pos->side, move_promotion(move)), SQUARE_NONE, square);
    } else {
        add_change(to, piece, from, square);
    }
    if (pos->board[victim] != NO_PIECE)
        add_change(to, pos->board[victim], victim, SQUARE_NONE);
}

void accumulators_push(Accumulators *accumulators, const Position *pos, Move move) {
    Accumulator *to = &accumulators->stack[++accumulators->top];
    to->is_computed[WHITE] = to->is_computed[BLACK] = false;
    to->is_refreshed[WHITE] = to->is_refreshed[BLACK] = false;
    to->change_count = 0;
    if (move_kind(move) == MOVE_CASTLING)
        push_castling(to, accumulators->net, pos->side, move);
    else
        push_normal(to, accumulators->net, pos, move);
}

// ---- sums --------------------------------------------------------------------------------------

// Computes `to` from the accumulator below it. The rows of the view's king are the same for both.
static void step(const Network *net, const Accumulator *from, Accumulator *to, Color view,
                 Square king) {
    NetDelta delta;
    delta_clear(&delta);
    for (const NetChange *c = to->changes; c < to->changes + to->change_count; c++) {
        if (c->to != SQUARE_NONE)
            delta_add(&delta, network_row(net, view, king, c->piece, c->to));
        if (c->from != SQUARE_NONE)
            delta_remove(&delta, network_row(net, view, king, c->piece, c->from));
    }
    net->kernel->accumulate(to->values[view], from->values[view], &delta);
    to->is_computed[view] = true;
}

// Collects the differences between the board and the cache, and updates the cache's pieces.
static void cache_differ(AccumulatorCache *cache, const Network *net, const Position *pos,
                         Color view, NetDelta *delta) {
    Square king = position_king(pos, view);
    for (int color = WHITE; color <= BLACK; color++)
        for (int type = PAWN; type < KING; type++) {
            Piece piece = piece_make((Color)color, (PieceType)type);
            Bitboard now = position_pieces(pos, (Color)color, (PieceType)type);
            Bitboard before = cache->pieces[color][type];
            for (Bitboard b = now & ~before; b;)
                delta_add(delta, network_row(net, view, king, piece, bitboard_pop(&b)));
            for (Bitboard b = before & ~now; b;)
                delta_remove(delta, network_row(net, view, king, piece, bitboard_pop(&b)));
            cache->pieces[color][type] = now;
        }
}

static void refresh(Accumulators *accumulators, const Position *pos, Color view) {
    const Network *net = accumulators->net;
    Accumulator *top = &accumulators->stack[accumulators->top];
    Square king = net_square(view, position_king(pos, view));
    AccumulatorCache *cache = &accumulators->cache[view][net->row_class[king]];
    NetDelta delta;
    delta_clear(&delta);
    cache_differ(cache, net, pos, view, &delta);
    net->kernel->accumulate(cache->values, cache->values, &delta);
    memcpy(top->values[view], cache->values, sizeof cache->values);
    top->is_computed[view] = true;
}

const int16_t *accumulators_update(Accumulators *accumulators, const Position *pos, Color view) {
    Accumulator *stack = accumulators->stack;
    int top = accumulators->top, at = top;
    while (at > 0 && !stack[at].is_computed[view] && !stack[at].is_refreshed[view])
        at--;
    if (!stack[at].is_computed[view]) {
        refresh(accumulators, pos, view);
        return stack[top].values[view];
    }
    for (Square king = position_king(pos, view); at < top; at++)
        step(accumulators->net, &stack[at], &stack[at + 1], view, king);
    return stack[top].values[view];
}

int32_t accumulators_evaluate(Accumulators *accumulators, const Position *pos) {
    const int16_t *us = accumulators_update(accumulators, pos, pos->side);
    const int16_t *them = accumulators_update(accumulators, pos, color_flip(pos->side));
    return network_forward(accumulators->net, us, them);
}
