// Pruning, one idea per function, with its numbers before it. Margins are in centipawns and were
// chosen by hand.
#include "search/prune.h"

#include "search/see.h"

// If a shorter mate is already known, no mate below this node can be better (chessprogramming wiki,
// Mate Distance Pruning). Narrows the window.
bool mate_distance_prune(const Searcher *s, Node *node, Score *value) {
    if (node->alpha < score_mated_in(s->ply))
        node->alpha = score_mated_in(s->ply);
    if (node->beta > score_mate_in(s->ply + 1))
        node->beta = score_mate_in(s->ply + 1);
    *value = node->alpha;
    return node->alpha >= node->beta;
}

// The table has a result of at least this depth that decides against this window.
bool table_prune(const Node *node, Score *value) {
    const TTEntry *entry = &node->table;
    if (!node->in_table || node->is_pv || entry->depth < node->depth ||
        node->frame->excluded != MOVE_NONE)
        return false;
    *value = entry->score;
    return tt_entry_decides(entry, node->alpha, node->beta);
}

enum { REVERSE_FUTILITY_DEPTH = 8 };

// The evaluation is so far above beta that a few plies will hardly bring it below ("static null
// move pruning").
bool reverse_futility_prune(const Node *node, Score *value) {
    if (node->is_pv || node->in_check || node->depth > REVERSE_FUTILITY_DEPTH ||
        score_is_mate(node->beta))
        return false;
    *value = node->eval;
    return node->eval - 80 * (node->depth - node->improving) >= node->beta;
}

enum { RAZOR_DEPTH = 2 };

// The evaluation is so far below alpha that only captures can help: search only those (Birmingham
// and Kent, 1977).
bool razor_prune(Searcher *s, const Node *node, Score *value) {
    if (node->is_pv || node->in_check || node->depth > RAZOR_DEPTH ||
        node->eval + 250 * node->depth > node->alpha)
        return false;
    *value = quiescence(s, node->alpha, node->beta);
    return *value <= node->alpha || searcher_was_stopped(s);
}

static bool has_pieces(const Position *pos) {
    Bitboard weak = pos->by_type[PAWN] | pos->by_type[KING];
    return (pos->by_color[pos->side] & ~weak) != 0;
}

enum { NULL_MOVE_DEPTH = 3, NULL_MOVE_VERIFY_DEPTH = 12 };

// If passing leaves us above beta, a real move will as well (Beal 1989; Donninger 1993). This is
// wrong in zugzwang, so it is not used with pawns alone, and at high depth the cutoff is verified
// by a search in which null moves are forbidden for some plies.
bool null_move_prune(Searcher *s, const Node *node, Score *value) {
    if (node->is_pv || node->in_check || node->depth < NULL_MOVE_DEPTH || node->eval < node->beta ||
        score_is_mate(node->beta) || s->ply < s->null_move_ban ||
        node->frame[-1].move == MOVE_NONE || !has_pieces(&s->pos))
        return false;
    int surplus = (node->eval - node->beta) / 200;
    int depth = node->depth - 4 - node->depth / 4 - (surplus < 3 ? surplus : 3);
    Undo undo;
    searcher_make_null(s, &undo);
    *value = -search_node(s, -node->beta, -node->beta + 1, depth, !node->is_cut);
    searcher_unmake_null(s, &undo);
    if (searcher_was_stopped(s))
        return true;
    if (*value < node->beta)
        return false;
    if (score_is_mate(*value))
        *value = node->beta;
    if (node->depth < NULL_MOVE_VERIFY_DEPTH || s->null_move_ban)
        return true;
    s->null_move_ban = s->ply + 3 * (depth > 0 ? depth : 0) / 4;
    Score verified = search_node(s, node->beta - 1, node->beta, depth, false);
    s->null_move_ban = 0;
    return verified >= node->beta || searcher_was_stopped(s);
}

enum { LATE_MOVE_PRUNE_DEPTH = 6 };

// Near the leaves, quiet moves late in the list are not tried ("move count pruning"), except in an
// open window, where an exact value is wanted.
bool late_move_prune(const Node *node, const Candidate *move) {
    return node->depth <= LATE_MOVE_PRUNE_DEPTH && !node->in_check && !node->is_pv &&
           move->legal_count > (4 + node->depth * node->depth) / (2 - node->improving);
}

enum { FUTILITY_DEPTH = 6 };

// Near the leaves, a quiet move will not make up for an evaluation far below alpha (Schaeffer 1986;
// Heinz, "Extended Futility Pruning", 1998).
bool futility_prune(const Node *node, const Candidate *move) {
    return node->depth <= FUTILITY_DEPTH && !node->in_check && move->legal_count > 1 &&
           node->eval + 120 + 90 * node->depth <= node->alpha;
}

enum { EXCHANGE_DEPTH = 7 };

// Near the leaves, moves that lose material by static exchange are not tried.
bool exchange_prune(const Searcher *s, const Node *node, const Candidate *move) {
    if (node->depth > EXCHANGE_DEPTH)
        return false;
    int margin = move->is_quiet ? 60 * node->depth : 25 * node->depth * node->depth;
    return !see_at_least(&s->pos, move->move, -margin);
}
