// The work of one thread outside the tree: the root moves, iterative deepening, aspiration windows,
// and the decision whether to begin another iteration. alphabeta.c searches the tree.
#include "search/deepen.h"

#include "search/evaluator.h"
#include "search/node.h"

enum { ASPIRATION_DEPTH = 5, ASPIRATION_WINDOW = 14 };

// ---- root moves --------------------------------------------------------------------------------

static bool list_has(const MoveList *list, Move move) {
    for (int i = 0; i < list->size; i++)
        if (list->moves[i] == move)
            return true;
    return false;
}

void root_moves_init(Searcher *s, const MoveList *wanted) {
    MoveList legal;
    movegen_legal(&s->pos, &legal);
    s->root_count = 0;
    for (int i = 0; i < legal.size; i++)
        if (wanted->size == 0 || list_has(wanted, legal.moves[i])) {
            RootMove *move = &s->root_moves[s->root_count++];
            move->move = move->pv[0] = legal.moves[i];
            move->pv_length = 1;
            move->seldepth = 0;
            move->nodes = 0;
            move->score = move->previous = -SCORE_INFINITE;
            move->bound = BOUND_EXACT;
        }
}

static bool root_move_is_better(const RootMove *a, const RootMove *b) {
    return a->score != b->score ? a->score > b->score : a->previous > b->previous;
}

// A stable sort: equal moves keep their order.
static void root_moves_sort(Searcher *s, int from, int to) {
    for (int i = from + 1; i < to; i++) {
        RootMove moving = s->root_moves[i];
        int at = i;
        for (; at > from && root_move_is_better(&moving, &s->root_moves[at - 1]); at--)
            s->root_moves[at] = s->root_moves[at - 1];
        s->root_moves[at] = moving;
    }
}

// ---- one iteration -----------------------------------------------------------------------------

// Searches the root in a narrow window around the score of the last iteration, and widens the
// window until the value is inside ("aspiration windows").
static void aspiration_search(Searcher *s, int depth) {
    Score alpha = -SCORE_INFINITE, beta = SCORE_INFINITE, delta = ASPIRATION_WINDOW;
    Score expected = s->root_moves[s->pv_index].previous;
    if (depth >= ASPIRATION_DEPTH && !score_is_mate(expected)) {
        alpha = expected - delta;
        beta = expected + delta;
    }
    for (;;) {
        Score value = search_node(s, alpha, beta, depth, false);
        root_moves_sort(s, s->pv_index, s->root_count);
        if (searcher_was_stopped(s) || (value > alpha && value < beta))
            return;
        delta *= 2;
        if (value <= alpha) {
            beta = (alpha + beta) / 2;
            alpha = value - delta;
        } else {
            beta = value + delta;
        }
        if (delta > 600 || score_is_mate(value)) {
            alpha = -SCORE_INFINITE;
            beta = SCORE_INFINITE;
        }
    }
}

static int multi_pv(const Searcher *s) {
    int wanted = s->shared->limits.multi_pv > 1 ? s->shared->limits.multi_pv : 1;
    return wanted < s->root_count ? wanted : s->root_count;
}

// A search may be stopped before a move has a value in the last iteration. Then it keeps the value
// of the iteration before. In the first iteration there is none, and the position is evaluated.
void line_describe(Searcher *s, int index, SearchInfo *out) {
    const Search *search = s->shared;
    const RootMove *move = &s->root_moves[index];
    bool has_score = move->score > -SCORE_INFINITE;
    *out = (SearchInfo){.depth = has_score || !s->completed ? s->root_depth : s->completed,
                        .seldepth = move->seldepth,
                        .multi_pv = index + 1,
                        .score = has_score ? move->score : move->previous,
                        .bound = has_score ? move->bound : BOUND_EXACT,
                        .nodes = search_nodes(search),
                        .time_us = timer_elapsed_us(&search->timer),
                        .hash_permille = tt_permille_full(&search->tt),
                        .pv = move->pv,
                        .pv_length = move->pv_length};
    if (out->score <= -SCORE_INFINITE)
        out->score = s->pos.checkers ? SCORE_DRAW : searcher_evaluate(s);
}

static void report(Searcher *s) {
    const Search *search = s->shared;
    for (int i = 0; i < multi_pv(s); i++) {
        SearchInfo info;
        line_describe(s, i, &info);
        search->report(search->report_context, &search->root, &info);
    }
    s->told_nodes = search_nodes(search);
}

void report_end(Searcher *s) {
    if (s->shared->report && search_nodes(s->shared) != s->told_nodes)
        report(s);
}

static void iteration(Searcher *s, int depth) {
    s->root_depth = depth;
    for (int i = 0; i < s->root_count; i++) {
        s->root_moves[i].previous = s->root_moves[i].score;
        s->root_moves[i].score = -SCORE_INFINITE;
    }
    for (s->pv_index = 0; s->pv_index < multi_pv(s) && !searcher_was_stopped(s); s->pv_index++) {
        s->seldepth = 0;
        aspiration_search(s, depth);
        root_moves_sort(s, 0, s->pv_index + 1);
    }
    if (!searcher_was_stopped(s)) {
        s->completed = depth;
        if (s->index == 0 && s->shared->report)
            report(s);
    }
}

// ---- deepening ---------------------------------------------------------------------------------

typedef struct IterationProgress {
    Move best;
    Score score;
    int stability; // iterations in a row with this best move
    int drop;      // of the score in the last iteration
} IterationProgress;

static void progress_update(IterationProgress *progress, const RootMove *best) {
    progress->stability = best->move == progress->best ? progress->stability + 1 : 0;
    progress->drop = progress->score - best->score;
    progress->best = best->move;
    progress->score = best->score;
}

static bool mate_is_found(const Searcher *s) {
    int mate = s->shared->limits.mate;
    return mate > 0 && s->root_moves[0].score >= score_mate_in(2 * mate - 1);
}

// The share of this thread's nodes that went into its best move, in permille.
static int effort(const Searcher *s) {
    return (int)(s->root_moves[0].nodes * 1000 / (searcher_nodes(s) + 1));
}

static bool another_iteration_is_wanted(const Searcher *s, const IterationProgress *progress) {
    Search *search = s->shared;
    if (searcher_was_stopped(s))
        return false;
    if (s->index != 0 || search->limits.infinite || atomic_load(&search->pondering))
        return true;
    if (search->limits.soft_nodes && search_nodes(search) >= search->limits.soft_nodes)
        return false;
    bool forced = s->root_count == 1 && search->timer.is_limited && !search->timer.is_fixed;
    return !mate_is_found(s) && !forced &&
           timer_allows_iteration(&search->timer, progress->stability, progress->drop, effort(s));
}

void deepen(Searcher *s) {
    const SearchLimits *limits = &s->shared->limits;
    int last =
        limits->depth > 0 && limits->depth < SEARCH_DEPTH_MAX ? limits->depth : SEARCH_DEPTH_MAX;
    IterationProgress progress = {0};
    // Every second thread starts one ply deeper, so that the threads do not all do the same work.
    for (int depth = 1 + s->index % 2; depth <= last; depth++) {
        iteration(s, depth);
        if (searcher_was_stopped(s))
            break;
        progress_update(&progress, &s->root_moves[0]);
        if (!another_iteration_is_wanted(s, &progress))
            break;
    }
}
