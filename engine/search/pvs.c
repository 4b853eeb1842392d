// Principal variation search: after the first move, each move is searched with a null window first,
// which only shows whether it beats alpha (Marsland and Campbell, 1982).
#include "search/node.h"
#include "search/reduce.h"

// The value of the move just made: a null window with less depth first, the full depth if that
// fails high, the full window if it may be the new best.
static Score move_value(Searcher *s, const Node *node, const Candidate *move, int depth,
                        int reduction) {
    Score alpha = node->alpha, value = 0;
    bool again = move->searched_count > 1;
    if (reduction > 0) {
        value = -search_node(s, -alpha - 1, -alpha, depth - reduction, true);
        again = value > alpha;
    }
    if (again)
        value = -search_node(s, -alpha - 1, -alpha, depth, !node->is_cut);
    if (move->searched_count == 1 || (node->is_pv && value > alpha))
        value = -search_node(s, -node->beta, -alpha, depth, !node->is_pv && !node->is_cut);
    return value;
}

Score move_search(Searcher *s, const Node *node, const Candidate *move) {
    int depth = node->depth - 1 + move->extension;
    int reduction = late_move_reduction(node, move);
    Undo undo;
    searcher_make(s, move->move, &undo);
    Score value = move_value(s, node, move, depth, reduction);
    searcher_unmake(s, move->move, &undo);
    return value;
}
