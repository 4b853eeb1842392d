// Alpha-beta: the search of one node of the tree. Pruning is in prune.c, reductions in reduce.c,
// extensions in extend.c, the order of moves in ordering.c, and the search of one move in pvs.c.
//
// search_node() hands a node without remaining depth to the quiescence search. For any other node
// it first looks for a value that needs no search of moves, from the cheapest source to the
// dearest: a drawn position, the greatest ply, a shorter mate that is already known, a result in
// the transposition table, and then, with the static evaluation, reverse futility, razoring and a
// null move. If there is no such value, a node without a move from the table may lose a ply of
// depth, and a singular search may extend the table's move or show that the node fails high.
//
// node_search_moves() takes the moves in the order of the picker. It skips a move that one of the
// pruning rules rejects, and searches each other move (pvs.c) with its extension and reduction. On
// the first move that reaches beta it updates the history tables and stops. A node without a legal
// move is mate or stalemate. At the end the result goes into the table, and the error of the static
// evaluation into the correction history.
//
// Deliberately absent: no node in check or with an open window is cut off by its evaluation, and no
// move of the root is pruned. A singular search, or MultiPV after its first line, examines only
// some of the moves, so it stores nothing. If the search is stopped, the value of a node has no
// meaning: the callers ask searcher_was_stopped() and discard it.
#include "search/node.h"

#include <string.h>

#include "search/correction.h"
#include "search/evaluator.h"
#include "search/extend.h"
#include "search/ordering.h"
#include "search/prune.h"
#include "search/reduce.h"
#include "search/see.h"

typedef struct Best {
    Score score;
    Move move; // MOVE_NONE until a move raises alpha
} Best;

// The evaluation, replaced by the table's score if the bound of that score shows that it is closer
// to the true value.
static Score eval_sharpened(const Node *node, Score eval) {
    const TTEntry *entry = &node->table;
    if (!node->in_table || score_is_mate(entry->score))
        return eval;
    bool better = entry->bound == BOUND_EXACT ||
                  (entry->bound == BOUND_LOWER && entry->score > eval) ||
                  (entry->bound == BOUND_UPPER && entry->score < eval);
    return better ? entry->score : eval;
}

static void node_evaluate(Searcher *s, Node *node) {
    Frame *frame = node->frame;
    node->in_check = s->pos.checkers != 0;
    if (node->in_check) {
        frame->eval = node->raw_eval = node->eval = SCORE_NONE;
        node->improving = false;
        return;
    }
    bool known = node->in_table && node->table.eval != SCORE_NONE;
    node->raw_eval = known ? node->table.eval : searcher_evaluate(s);
    frame->eval = eval_corrected(s, node->raw_eval);
    node->eval = eval_sharpened(node, frame->eval);
    Score before = frame[-2].eval;
    node->improving = before == SCORE_NONE || frame->eval > before;
}

// True if the node has a value without a search of its moves.
static bool node_prune(Searcher *s, Node *node, Score *value) {
    if (node->frame->excluded != MOVE_NONE)
        return false;
    return reverse_futility_prune(node, value) || razor_prune(s, node, value) ||
           null_move_prune(s, node, value);
}

static Candidate candidate_of(Searcher *s, Move move, int legal_count) {
    bool quiet = move_is_quiet(&s->pos, move);
    return (Candidate){.move = move,
                       .legal_count = legal_count,
                       .is_quiet = quiet,
                       .gives_check = move_gives_check(&s->pos, move),
                       .history = quiet ? quiet_history(s, move) : capture_history(s, move)};
}

// True if the move is not searched. No move is pruned before another move has a score that is not a
// mate against us, and no check is pruned in a search for a mate (`go mate`).
static bool move_prune(Searcher *s, const Node *node, const Best *best, const Candidate *move,
                       MovePicker *picker) {
    if (node->is_root || best->score <= -SCORE_MATE_LEAST ||
        (move->gives_check && s->shared->limits.mate > 0))
        return false;
    // The reason holds for all quiet moves after this one as well.
    if (move->is_quiet && (late_move_prune(node, move) || futility_prune(node, move)))
        return picker->skip_quiets = true;
    return exchange_prune(s, node, move);
}

// Writes the principal variation: `move`, then the variation of the child. Returns its length.
static int line_take(Move line[PLY_MAX], Move move, const Frame *child) {
    int rest = child->pv_length < PLY_MAX - 1 ? child->pv_length : PLY_MAX - 1;
    line[0] = move;
    memcpy(line + 1, child->pv, (size_t)rest * sizeof *line);
    return rest + 1;
}

static RootMove *root_find(Searcher *s, Move move) {
    for (int i = s->pv_index; i < s->root_count; i++)
        if (s->root_moves[i].move == move)
            return &s->root_moves[i];
    return NULL;
}

// Records the result of a root move.
static void root_take(Searcher *s, const Node *node, const Candidate *move, Score value) {
    RootMove *root = root_find(s, move->move);
    uint64_t nodes = searcher_nodes(s);
    root->nodes += nodes - s->root_nodes;
    s->root_nodes = nodes;
    if (move->searched_count > 1 && value <= node->alpha) {
        root->score = -SCORE_INFINITE; // only a bound: the move keeps its place in the order
        return;
    }
    root->score = value;
    root->bound = value >= node->beta    ? BOUND_LOWER
                  : value <= node->alpha ? BOUND_UPPER
                                         : BOUND_EXACT;
    root->seldepth = s->seldepth;
    root->pv_length = line_take(root->pv, move->move, node->frame + 1);
}

// Updates the node's best value with the value of a move. True on a beta cutoff.
static bool best_take(Node *node, Best *best, Move move, Score value) {
    if (value > best->score)
        best->score = value;
    if (value <= node->alpha)
        return false;
    best->move = move;
    Frame *frame = node->frame;
    if (node->is_pv)
        frame->pv_length = line_take(frame->pv, move, frame + 1);
    if (value >= node->beta)
        return true;
    node->alpha = value;
    return false;
}

// True if the node's value is the value of the position. It is not if some moves were excluded: in
// MultiPV at the root, and in a singular search.
static bool node_is_whole(const Searcher *s, const Node *node) {
    return !(node->is_root && s->pv_index > 0) && node->frame->excluded == MOVE_NONE;
}

static Bound best_bound(const Node *node, const Best *best, Score alpha_before) {
    if (best->score >= node->beta)
        return BOUND_LOWER;
    return best->score > alpha_before ? BOUND_EXACT : BOUND_UPPER;
}

static void node_store(Searcher *s, const Node *node, const Best *best, Bound bound) {
    TTEntry entry = {.move = best->move,
                     .score = best->score,
                     .eval = node->raw_eval,
                     .depth = node->depth,
                     .bound = bound};
    tt_store(&s->shared->tt, s->pos.key, s->ply, &entry);
}

// Learns the error of the evaluation from the result of the search. There is nothing to learn if a
// capture was best, because the evaluation does not see captures, or if the result is a bound that
// the evaluation fulfils.
static void node_learn_error(Searcher *s, const Node *node, const Best *best, Bound bound) {
    Score error = best->score - node->frame->eval;
    if (node->in_check || score_is_mate(best->score) ||
        (best->move != MOVE_NONE && !move_is_quiet(&s->pos, best->move)) ||
        (bound == BOUND_LOWER && error <= 0) || (bound == BOUND_UPPER && error >= 0))
        return;
    correction_learn(s, error, node->depth);
}

static Score node_search_moves(Searcher *s, Node *node) {
    Score alpha_before = node->alpha;
    Best best = {-SCORE_INFINITE, MOVE_NONE};
    TriedMoves tried;
    tried.quiet_count = tried.capture_count = 0;
    int legal = 0, searched = 0;
    MovePicker picker;
    picker_init(&picker, s, node->is_root ? s->root_moves[s->pv_index].move : node->table.move);
    for (Move move; (move = picker_next(&picker)) != MOVE_NONE;) {
        if (node->is_root && !root_find(s, move))
            continue;
        if (move == node->frame->excluded)
            continue;
        searcher_prefetch(s, move);
        Candidate candidate = candidate_of(s, move, ++legal);
        if (move_prune(s, node, &best, &candidate, &picker))
            continue;
        candidate.searched_count = ++searched;
        candidate.extension = move_extension(s, node, &candidate);
        Score value = move_search(s, node, &candidate);
        if (searcher_was_stopped(s))
            return SCORE_DRAW;
        if (node->is_root)
            root_take(s, node, &candidate, value);
        if (best_take(node, &best, move, value)) {
            ordering_learn(s, move, node->depth, &tried);
            break;
        }
        tried_add(&tried, &s->pos, move);
    }
    if (legal == 0 && node->frame->excluded != MOVE_NONE)
        return node->alpha;
    if (legal == 0)
        return node->in_check ? score_mated_in(s->ply) : SCORE_DRAW;
    if (!node_is_whole(s, node))
        return best.score;
    if (best.move == MOVE_NONE)
        ordering_learn_failed_low(s, node->depth);
    Bound bound = best_bound(node, &best, alpha_before);
    node_store(s, node, &best, bound);
    node_learn_error(s, node, &best, bound);
    return best.score;
}

Score search_node(Searcher *s, Score alpha, Score beta, int depth, bool cut) {
    if (depth <= 0)
        return quiescence(s, alpha, beta);
    Frame *frame = searcher_frame(s);
    frame->pv_length = 0;
    frame->double_extensions = frame[-1].double_extensions;
    if (searcher_check_limits(s))
        return SCORE_DRAW;
    Node node = {.frame = frame,
                 .alpha = alpha,
                 .beta = beta,
                 .depth = depth < PLY_MAX ? depth : PLY_MAX - 1,
                 .is_root = s->ply == 0,
                 .is_pv = beta - alpha > 1,
                 .is_cut = cut};
    Score value;
    if (!node.is_root) {
        if (searcher_is_draw(s))
            return SCORE_DRAW;
        if (s->ply >= PLY_MAX - 1)
            return s->pos.checkers ? SCORE_DRAW : searcher_evaluate(s);
        if (mate_distance_prune(s, &node, &value))
            return value;
    }
    if (s->seldepth < s->ply)
        s->seldepth = s->ply;
    frame[2].killers[0] = frame[2].killers[1] = MOVE_NONE;
    node.in_table = tt_probe(&s->shared->tt, s->pos.key, s->ply, &node.table);
    if (table_prune(&node, &value))
        return value;
    node_evaluate(s, &node);
    if (node_prune(s, &node, &value))
        return value;
    node.depth -= internal_iterative_reduction(&node);
    if (singular_search(s, &node, &value))
        return value;
    return node_search_moves(s, &node);
}
