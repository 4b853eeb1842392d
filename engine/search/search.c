// The search as a whole: memory, threads, limits and the result. deepen.c has the work of one
// thread. All threads search the same root and share only the transposition table ("lazy SMP").
#include "search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eval/eval.h"
#include "search/deepen.h"
#include "search/reduce.h"
#include "search/searcher.h"

// ---- threads -----------------------------------------------------------------------------------

static void *helper_main(void *searcher) {
    deepen(searcher);
    return NULL;
}

static void searcher_begin(Searcher *s) {
    const Root *root = &s->shared->root;
    s->pos = root->pos;
    s->ply = 0;
    memset(s->stack, 0, sizeof s->stack);
    for (int i = 0; i < STACK_BELOW; i++) {
        s->stack[i].piece = NO_PIECE;
        s->stack[i].replies = &s->history.replies[NO_PIECE][0];
        s->stack[i].eval = SCORE_NONE;
    }
    piece_keys_of(&s->pos, searcher_frame(s)->piece_keys);
    memcpy(s->keys, root->keys, (size_t)root->key_count * sizeof *s->keys);
    s->key_count = root->key_count;
    atomic_store(&s->nodes, 0);
    if (s->accumulators)
        accumulators_restart(s->accumulators);
    s->null_move_ban = s->repetition_floor = 0;
    s->root_nodes = 0;
    s->told_nodes = UINT64_MAX;
    s->pv_index = s->root_depth = s->completed = 0;
    root_moves_init(s, &s->shared->limits.search_moves);
}

// ---- for callers -------------------------------------------------------------------------------

static void searcher_set_network(Searcher *s, const Network *net) {
    free(s->accumulators);
    s->accumulators = net ? accumulators_new(net) : NULL;
}

static Searcher *searcher_new(Search *search, int index) {
    Searcher *s = calloc(1, sizeof *s);
    if (!s) {
        fputs("anvil: out of memory for a search thread\n", stderr);
        exit(EXIT_FAILURE);
    }
    s->shared = search;
    s->index = index;
    pawn_cache_clear(&s->pawns);
    searcher_set_network(s, search->net);
    return s;
}

static void searcher_free(Searcher *s) {
    free(s->accumulators);
    free(s);
}

Search *search_new(size_t hash_mb, int threads) {
    rules_init();
    eval_init();
    reductions_init();
    Search *search = calloc(1, sizeof *search);
    if (!search) {
        fputs("anvil: out of memory for the search\n", stderr);
        exit(EXIT_FAILURE);
    }
    tt_resize(&search->tt, hash_mb);
    search->net = network_default();
    search_set_threads(search, threads);
    return search;
}

void search_free(Search *search) {
    if (!search)
        return;
    for (int i = 0; i < search->thread_count; i++)
        searcher_free(search->searchers[i]);
    tt_free(&search->tt);
    free(search);
}

bool search_set_hash(Search *search, size_t hash_mb) {
    return tt_resize(&search->tt, hash_mb);
}

void search_set_threads(Search *search, int threads) {
    while (search->thread_count > threads)
        searcher_free(search->searchers[--search->thread_count]);
    while (search->thread_count < threads) {
        search->searchers[search->thread_count] = searcher_new(search, search->thread_count);
        search->thread_count++;
    }
}

void search_clear(Search *search) {
    tt_clear(&search->tt);
    for (int i = 0; i < search->thread_count; i++) {
        history_clear(&search->searchers[i]->history);
        pawn_cache_clear(&search->searchers[i]->pawns);
    }
}

void search_set_network(Search *search, const Network *net) {
    search->net = net;
    for (int i = 0; i < search->thread_count; i++)
        searcher_set_network(search->searchers[i], net);
    search_clear(search); // the table holds evaluations of the old net
}

void search_on_report(Search *search, SearchReport *report, void *context) {
    search->report = report;
    search->report_context = context;
}

static void timer_set(Search *search) {
    const SearchLimits *limits = &search->limits;
    Color us = search->root.pos.side;
    int64_t overhead_us = limits->overhead_ms * 1000;
    if (limits->move_time_ms > 0) {
        timer_set_move_time(&search->timer, limits->start_us, limits->move_time_ms * 1000,
                            overhead_us);
    } else if (limits->has_clock && !limits->infinite) {
        ClockState clock = {.time_us = limits->time_ms[us] * 1000,
                            .increment_us = limits->increment_ms[us] * 1000,
                            .overhead_us = overhead_us,
                            .moves_to_go = limits->moves_to_go};
        timer_set_clock(&search->timer, limits->start_us, &clock);
    } else {
        timer_set_unlimited(&search->timer, limits->start_us);
    }
}

void search_prepare(Search *search, const Root *root, const SearchLimits *limits) {
    search->root = *root;
    search->limits = *limits;
    timer_set(search);
    atomic_store(&search->pondering, limits->ponder);
    atomic_store(&search->stopped, false);
}

// After `go infinite` and `go ponder` the result must wait for `stop` or `ponderhit`.
static void wait_until_wanted(Search *search) {
    const struct timespec moment = {.tv_nsec = 1000000};
    while (!atomic_load(&search->stopped) &&
           (search->limits.infinite || atomic_load(&search->pondering)))
        nanosleep(&moment, NULL);
}

static SearchResult result_of(const Search *search) {
    Searcher *leader = search->searchers[0];
    SearchResult result = {.nodes = search_nodes(search), .depth = leader->completed};
    if (leader->root_count == 0)
        return result;
    const RootMove *best = &leader->root_moves[0];
    result.best = best->move;
    result.ponder = best->pv_length > 1 ? best->pv[1] : MOVE_NONE;
    SearchInfo info;
    line_describe(leader, 0, &info);
    result.score = info.score;
    report_end(leader);
    return result;
}

SearchResult search_run(Search *search) {
    tt_new_search(&search->tt);
    for (int i = 0; i < search->thread_count; i++)
        searcher_begin(search->searchers[i]);
    int helpers = 0;
    if (search->searchers[0]->root_count > 0) {
        for (int i = 1; i < search->thread_count; i++, helpers++)
            if (pthread_create(&search->searchers[i]->thread, NULL, helper_main,
                               search->searchers[i]) != 0)
                break; // search with fewer threads
        deepen(search->searchers[0]);
    }
    wait_until_wanted(search);
    atomic_store(&search->stopped, true);
    for (int i = 1; i <= helpers; i++)
        pthread_join(search->searchers[i]->thread, NULL);
    return result_of(search);
}

void search_stop(Search *search) {
    atomic_store(&search->stopped, true);
}

void search_ponderhit(Search *search) {
    atomic_store(&search->timer.start_us, clock_now_us());
    atomic_store(&search->pondering, false);
}
