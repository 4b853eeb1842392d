// Extensions, one idea per function. Each extends by one ply, except the singular extension, which
// may extend by two or reduce.
#include "search/extend.h"

#include "search/see.h"

// A line may be at most twice as long as the depth of the iteration.
static bool line_may_grow(const Searcher *s) {
    return s->ply < 2 * s->root_depth;
}

// A check forces the reply.
static bool check_extension(const Searcher *s, const Candidate *move) {
    return move->gives_check && line_may_grow(s);
}

// A pawn that reaches its seventh rank threatens to promote (chessprogramming wiki, Passed Pawn
// Extensions).
static bool seventh_rank_extension(const Searcher *s, const Node *node, const Candidate *move) {
    Color us = s->pos.side;
    return node->is_pv && s->pos.board[move_from(move->move)] == piece_make(us, PAWN) &&
           square_rank(square_relative(us, move_to(move->move))) == 6 && line_may_grow(s) &&
           see_at_least(&s->pos, move->move, 0);
}

// In an open window, the table's move recaptures the piece that has just captured. The exchange is
// finished before the position is evaluated (chessprogramming wiki, Recapture Extensions).
static bool recapture_extension(const Searcher *s, const Node *node, const Candidate *move) {
    const Frame *before = node->frame - 1;
    return node->is_pv && !node->is_root && move->move == node->table.move && !move->is_quiet &&
           before->move != MOVE_NONE && !before->is_quiet &&
           move_to(move->move) == move_to(before->move) && line_may_grow(s);
}

enum { SINGULAR_DEPTH = 7 };

// Whether the table knows enough about its move for a singular search.
static bool singular_is_asked(const Searcher *s, const Node *node) {
    const TTEntry *entry = &node->table;
    return node->depth >= SINGULAR_DEPTH && !node->is_root && node->frame->excluded == MOVE_NONE &&
           line_may_grow(s) && node->in_table && entry->bound != BOUND_UPPER &&
           entry->depth >= node->depth - 3 && !score_is_mate(entry->score) &&
           move_is_legal(&s->pos, entry->move);
}

enum { DOUBLE_MARGIN = 20, DOUBLE_EXTENSIONS_MAX = 6 };

// The move is so much better than all others that it is extended by two plies ("double extensions",
// Stockfish). The number in one line is limited, so that the line ends.
static bool is_very_singular(Node *node, Score bound, Score others) {
    if (node->is_pv || others >= bound - DOUBLE_MARGIN ||
        node->frame->double_extensions >= DOUBLE_EXTENSIONS_MAX)
        return false;
    node->frame->double_extensions++;
    return true;
}

// The table's move is one of several good ones. If the move should fail high by its score in the
// table, or the node by its place in the tree, less depth is enough ("negative extensions",
// Stockfish).
static int negative_extension(const Node *node) {
    if (node->table.score >= node->beta)
        return 2;
    return node->is_cut;
}

// The table's move fails high, and another move fails high without it: so the node will fail high
// (Björnsson and Marsland, "Multi-cut pruning in alpha-beta search", 1998).
static bool multi_cut_prune(const Node *node, Score bound, Score others) {
    return !node->is_pv && others >= bound && bound >= node->beta;
}

// The table's move is extended by a ply if it is the only good move. To find out, the other moves
// are searched to half the depth: they must fail low against the move's score minus a margin
// ("singular extensions", Anantharaman, Campbell and Hsu, 1988; with this test in Stockfish).
bool singular_search(Searcher *s, Node *node, Score *value) {
    if (!singular_is_asked(s, node))
        return false;
    Score bound = node->table.score - node->depth;
    node->frame->excluded = node->table.move;
    Score others = search_node(s, bound - 1, bound, (node->depth - 1) / 2, node->is_cut);
    node->frame->excluded = MOVE_NONE;
    if (others < bound)
        node->table_extension = 1 + is_very_singular(node, bound, others);
    else
        node->table_extension = -negative_extension(node);
    *value = bound;
    return multi_cut_prune(node, bound, others) || searcher_was_stopped(s);
}

int move_extension(const Searcher *s, const Node *node, const Candidate *move) {
    if (seventh_rank_extension(s, node, move))
        return 1;
    if (move->move == node->table.move && node->table_extension != 0)
        return node->table_extension;
    return recapture_extension(s, node, move) || check_extension(s, move);
}
