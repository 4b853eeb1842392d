// The board of a search thread: making moves and taking them back, draws, and the check of the
// limits.
#include "search/searcher.h"

#include <string.h>

#include "rules/bitboard.h"
#include "rules/legality.h"
#include "rules/zobrist.h"
#include "search/see.h"

enum { CLOCK_PERIOD = 256 }; // nodes between two readings of the clock; a power of two

static uint64_t nodes_add_one(Searcher *s) {
    // Only this thread writes the counter, so no atomic addition is needed.
    uint64_t nodes = searcher_nodes(s) + 1;
    atomic_store_explicit(&s->nodes, nodes, memory_order_relaxed);
    return nodes;
}

void piece_keys_of(const Position *pos, Key keys[COLOR_NB]) {
    keys[WHITE] = keys[BLACK] = 0;
    for (Bitboard left = position_occupied(pos) & ~pos->by_type[PAWN]; left;) {
        Square s = bitboard_pop(&left);
        keys[piece_color(pos->board[s])] ^= zobrist.piece[pos->board[s]][s];
    }
}

static Key castling_keys(Color us, Move move) {
    CastlingSide side = castling_side(move);
    const Key *king = zobrist.piece[piece_make(us, KING)];
    const Key *rook = zobrist.piece[piece_make(us, ROOK)];
    return king[move_from(move)] ^ king[castling_king_to(us, side)] ^ rook[move_to(move)] ^
           rook[castling_rook_to(us, side)];
}

// Updates the keys for `move`, before it is made.
static void piece_keys_follow(const Position *pos, Move move, Key keys[COLOR_NB]) {
    Color us = pos->side;
    Square from = move_from(move), to = move_to(move);
    Piece piece = pos->board[from], captured = pos->board[to];
    if (move_kind(move) == MOVE_CASTLING) {
        keys[us] ^= castling_keys(us, move);
        return;
    }
    if (captured != NO_PIECE && piece_type(captured) != PAWN)
        keys[color_flip(us)] ^= zobrist.piece[captured][to];
    if (piece_type(piece) != PAWN)
        keys[us] ^= zobrist.piece[piece][from] ^ zobrist.piece[piece][to];
    else if (move_kind(move) == MOVE_PROMOTION)
        keys[us] ^= zobrist.piece[piece_make(us, move_promotion(move))][to];
}

// The key of the position after a move; wrong for castling, promotion and en passant. It is used to
// fetch the table's entry early. A wrong key only wastes the fetch.
static Key key_guess(const Position *pos, Move move) {
    Square from = move_from(move), to = move_to(move);
    const Key *moved = zobrist.piece[pos->board[from]];
    Piece captured = pos->board[to];
    Key taken = captured == NO_PIECE ? 0 : zobrist.piece[captured][to];
    return pos->key ^ zobrist.black_to_move ^ moved[from] ^ moved[to] ^ taken;
}

void searcher_prefetch(const Searcher *s, Move move) {
    tt_prefetch(&s->shared->tt, key_guess(&s->pos, move));
}

void searcher_make(Searcher *s, Move move, Undo *undo) {
    Frame *frame = searcher_frame(s);
    frame->move = move;
    frame->is_quiet = move_is_quiet(&s->pos, move);
    frame->piece = s->pos.board[move_from(move)];
    frame->replies = &s->history.replies[frame->piece][move_to(move)];
    memcpy(frame[1].piece_keys, frame->piece_keys, sizeof frame->piece_keys);
    piece_keys_follow(&s->pos, move, frame[1].piece_keys);
    s->keys[s->key_count++] = s->pos.key;
    if (s->accumulators)
        accumulators_push(s->accumulators, &s->pos, move);
    position_make(&s->pos, move, undo);
    s->ply++;
    nodes_add_one(s);
}

void searcher_unmake(Searcher *s, Move move, const Undo *undo) {
    s->ply--;
    s->key_count--;
    if (s->accumulators)
        accumulators_pop(s->accumulators);
    position_unmake(&s->pos, move, undo);
}

void searcher_make_null(Searcher *s, Undo *undo) {
    Frame *frame = searcher_frame(s);
    frame->move = MOVE_NONE;
    frame->piece = NO_PIECE;
    frame->replies = &s->history.replies[NO_PIECE][0];
    s->keys[s->key_count++] = s->pos.key;
    memcpy(frame[1].piece_keys, frame->piece_keys, sizeof frame->piece_keys);
    frame->repetition_floor = s->repetition_floor;
    s->repetition_floor = s->key_count;
    position_make_null(&s->pos, undo);
    tt_prefetch(&s->shared->tt, s->pos.key);
    s->ply++;
    nodes_add_one(s);
}

void searcher_unmake_null(Searcher *s, const Undo *undo) {
    s->ply--;
    s->key_count--;
    s->repetition_floor = searcher_frame(s)->repetition_floor;
    position_unmake_null(&s->pos, undo);
}

uint64_t search_nodes(const Search *search) {
    uint64_t sum = 0;
    for (int i = 0; i < search->thread_count; i++)
        sum += searcher_nodes(search->searchers[i]);
    return sum;
}

static bool limit_is_reached(Searcher *s) {
    Search *search = s->shared;
    if (search->limits.nodes && search_nodes(search) >= search->limits.nodes)
        return true;
    return searcher_nodes(s) % CLOCK_PERIOD == 0 && !atomic_load(&search->pondering) &&
           timer_is_over(&search->timer);
}

bool searcher_check_limits(Searcher *s) {
    Search *search = s->shared;
    if (atomic_load_explicit(&search->stopped, memory_order_relaxed))
        return true;
    if (s->index != 0 || !limit_is_reached(s))
        return false;
    atomic_store(&search->stopped, true);
    return true;
}

static bool has_repeated(const Searcher *s) {
    // Only positions since the last irreversible move, with the same side to move, can be repeated.
    int known = s->key_count - s->repetition_floor;
    int reach = s->pos.rule50 < known ? s->pos.rule50 : known;
    int before_root = 0;
    for (int back = 4; back <= reach; back += 2) {
        if (s->keys[s->key_count - back] != s->pos.key)
            continue;
        // One earlier occurrence is enough in the search tree; two are needed before the root.
        if (back <= s->ply || ++before_root == 2)
            return true;
    }
    return false;
}

static bool material_is_insufficient(const Position *pos) {
    if (pos->by_type[PAWN] | pos->by_type[ROOK] | pos->by_type[QUEEN])
        return false;
    return !bitboard_many(pos->by_type[KNIGHT] | pos->by_type[BISHOP]);
}

static bool fifty_moves_are_over(const Searcher *s) {
    if (s->pos.rule50 < 100)
        return false;
    if (!s->pos.checkers)
        return true;
    MoveList list; // a mate by the hundredth ply counts as a mate
    movegen_legal(&s->pos, &list);
    return list.size > 0;
}

bool searcher_is_draw(const Searcher *s) {
    return has_repeated(s) || material_is_insufficient(&s->pos) || fifty_moves_are_over(s);
}
