// Quiescence search: at the leaves, only captures and promotions are searched, and in check every
// move, until the static evaluation can be trusted.
#include "search/node.h"

#include "search/correction.h"
#include "search/evaluator.h"
#include "search/ordering.h"
#include "search/see.h"

enum { DELTA_MARGIN = 180 };

typedef struct Leaf {
    Score alpha, beta;
    Score best;
    Move best_move;
    bool in_check;
    Score raw_eval, eval; // without and with correction; SCORE_NONE in check
    TTEntry table;
    bool in_table;
} Leaf;

static bool leaf_table_prune(const Leaf *leaf) {
    bool is_pv = leaf->beta - leaf->alpha > 1;
    return leaf->in_table && !is_pv && tt_entry_decides(&leaf->table, leaf->alpha, leaf->beta);
}

// The side to move does not have to capture, so the evaluation is a lower bound ("standing pat").
// True if this bound reaches beta.
static bool stand_pat(Searcher *s, Leaf *leaf) {
    leaf->best = -SCORE_INFINITE;
    leaf->raw_eval = leaf->eval = SCORE_NONE;
    if (leaf->in_check)
        return false;
    bool known = leaf->in_table && leaf->table.eval != SCORE_NONE;
    leaf->raw_eval = known ? leaf->table.eval : searcher_evaluate(s);
    leaf->eval = leaf->best = eval_corrected(s, leaf->raw_eval);
    if (leaf->best > leaf->alpha)
        leaf->alpha = leaf->best;
    return leaf->best >= leaf->beta;
}

// Even if the captured piece is won for nothing, the value stays below alpha.
static bool delta_prune(const Searcher *s, const Leaf *leaf, Move move) {
    if (leaf->in_check || move_kind(move) == MOVE_PROMOTION)
        return false;
    Score hope = leaf->eval + SEE_VALUE[move_captured_type(&s->pos, move)] + DELTA_MARGIN;
    return hope <= leaf->alpha && !move_gives_check(&s->pos, move);
}

static void leaf_store(Searcher *s, const Leaf *leaf) {
    TTEntry entry = {.move = leaf->best_move, .score = leaf->best, .eval = leaf->raw_eval};
    entry.bound = leaf->best >= leaf->beta ? BOUND_LOWER : BOUND_UPPER;
    tt_store(&s->shared->tt, s->pos.key, s->ply, &entry);
}

static void leaf_search_moves(Searcher *s, Leaf *leaf) {
    MovePicker picker;
    if (leaf->in_check)
        picker_init(&picker, s, leaf->table.move);
    else
        picker_init_captures(&picker, s, leaf->table.move);
    for (Move move; (move = picker_next(&picker)) != MOVE_NONE;) {
        searcher_prefetch(s, move);
        if (delta_prune(s, leaf, move))
            continue;
        Undo undo;
        searcher_make(s, move, &undo);
        Score value = -quiescence(s, -leaf->beta, -leaf->alpha);
        searcher_unmake(s, move, &undo);
        if (searcher_was_stopped(s))
            return;
        if (value > leaf->best) {
            leaf->best = value;
            leaf->best_move = move;
        }
        if (value > leaf->alpha)
            leaf->alpha = value;
        if (leaf->alpha >= leaf->beta)
            return;
    }
    if (leaf->in_check && leaf->best == -SCORE_INFINITE)
        leaf->best = score_mated_in(s->ply);
}

Score quiescence(Searcher *s, Score alpha, Score beta) {
    Frame *frame = searcher_frame(s);
    frame->pv_length = 0;
    if (searcher_check_limits(s) || searcher_is_draw(s))
        return SCORE_DRAW;
    if (s->seldepth < s->ply)
        s->seldepth = s->ply;
    Leaf leaf = {.alpha = alpha, .beta = beta, .in_check = s->pos.checkers != 0};
    if (s->ply >= PLY_MAX - 1)
        return leaf.in_check ? SCORE_DRAW : searcher_evaluate(s);
    leaf.in_table = tt_probe(&s->shared->tt, s->pos.key, s->ply, &leaf.table);
    if (leaf_table_prune(&leaf))
        return leaf.table.score;
    if (stand_pat(s, &leaf))
        return leaf.best;
    leaf_search_moves(s, &leaf);
    if (!searcher_was_stopped(s))
        leaf_store(s, &leaf);
    return leaf.best;
}
