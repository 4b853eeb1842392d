// The transposition table. tt.h explains how it works without locks.
#include "search/tt.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CLUSTER_SIZE = 4, AGE_MASK = 0x3f, HUGE_PAGE = 2 << 20 };

typedef struct TTSlot {
    _Atomic uint64_t check; // key XOR data
    _Atomic uint64_t data;
} TTSlot;

typedef struct TTCluster {
    TTSlot slots[CLUSTER_SIZE];
} TTCluster;

_Static_assert(sizeof(TTCluster) == 64, "a cluster is one cache line");

// data: move 0–15, score 16–31, eval 32–47, depth 48–55, bound 56–57, age 58–63.
static uint64_t data_pack(const TTEntry *entry, Score score, uint8_t age) {
    return (uint64_t)entry->move | (uint64_t)(uint16_t)score << 16 |
           (uint64_t)(uint16_t)entry->eval << 32 | (uint64_t)(uint8_t)entry->depth << 48 |
           (uint64_t)entry->bound << 56 | (uint64_t)age << 58;
}
static Score data_score(uint64_t data) {
    return (int16_t)(data >> 16);
}
static int data_depth(uint64_t data) {
    return (uint8_t)(data >> 48);
}
static Bound data_bound(uint64_t data) {
    return (Bound)(data >> 56 & 3);
}
static uint8_t data_age(uint64_t data) {
    return (uint8_t)(data >> 58);
}

// A mate is stored as its distance from the node, because the same position is met at many plies.
static Score score_to_table(Score score, int ply) {
    if (score >= SCORE_MATE_LEAST)
        return score + ply;
    return score <= -SCORE_MATE_LEAST ? score - ply : score;
}
static Score score_from_table(Score score, int ply) {
    if (score >= SCORE_MATE_LEAST)
        return score - ply;
    return score <= -SCORE_MATE_LEAST ? score + ply : score;
}

static TTCluster *cluster_of(const TT *tt, Key key) {
    return &tt->clusters[(size_t)(((unsigned __int128)key * tt->count) >> 64)];
}

// Linux grants more memory than the machine has, and kills the process when it uses the memory.
static bool machine_has(size_t megabytes) {
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages <= 0 || megabytes < (size_t)pages * (size_t)page_bytes >> 20;
}

static bool table_allocate(TT *tt, size_t megabytes) {
    size_t bytes = megabytes << 20, whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    bool fits = megabytes <= TT_MAX_MB && machine_has(megabytes);
    tt->clusters = fits ? aligned_alloc(HUGE_PAGE, whole) : NULL;
    tt->count = tt->clusters ? bytes / sizeof *tt->clusters : 0;
#ifdef MADV_HUGEPAGE
    if (tt->clusters)
        madvise(tt->clusters, bytes, MADV_HUGEPAGE); // only makes it faster
#endif
    return tt->clusters != NULL;
}

bool tt_resize(TT *tt, size_t megabytes) {
    size_t before = tt->count * sizeof(TTCluster) >> 20;
    free(tt->clusters);
    bool done = table_allocate(tt, megabytes);
    if (!done && !table_allocate(tt, before ? before : 1)) {
        fputs("anvil: out of memory for the transposition table\n", stderr);
        exit(EXIT_FAILURE);
    }
    tt_clear(tt);
    return done;
}

void tt_free(TT *tt) {
    free(tt->clusters);
    *tt = (TT){0};
}

void tt_clear(TT *tt) {
    memset((void *)tt->clusters, 0, tt->count * sizeof *tt->clusters);
    tt->age = 0;
}

void tt_new_search(TT *tt) {
    tt->age = (tt->age + 1) & AGE_MASK;
}

bool tt_probe(const TT *tt, Key key, int ply, TTEntry *out) {
    TTCluster *cluster = cluster_of(tt, key);
    for (int i = 0; i < CLUSTER_SIZE; i++) {
        TTSlot *slot = &cluster->slots[i];
        uint64_t data = atomic_load_explicit(&slot->data, memory_order_relaxed);
        uint64_t check = atomic_load_explicit(&slot->check, memory_order_relaxed);
        if ((check ^ data) != key || data_bound(data) == BOUND_NONE)
            continue;
        *out = (TTEntry){.move = (Move)data,
                         .score = score_from_table(data_score(data), ply),
                         .eval = (int16_t)(data >> 32),
                         .depth = data_depth(data),
                         .bound = data_bound(data)};
        return true;
    }
    *out = (TTEntry){.score = SCORE_NONE, .eval = SCORE_NONE};
    return false;
}

// How valuable an entry is: deep entries are valuable, and lose value with every later search.
static int slot_worth(const TT *tt, uint64_t data) {
    if (data_bound(data) == BOUND_NONE)
        return -1000;
    return data_depth(data) - 8 * ((tt->age - data_age(data)) & AGE_MASK);
}

// The slot that has `key`, otherwise the slot with the lowest worth.
static TTSlot *slot_to_replace(const TT *tt, Key key, bool *same) {
    TTCluster *cluster = cluster_of(tt, key);
    TTSlot *worst = &cluster->slots[0];
    int worst_worth = INT32_MAX;
    for (int i = 0; i < CLUSTER_SIZE; i++) {
        TTSlot *slot = &cluster->slots[i];
        uint64_t data = atomic_load_explicit(&slot->data, memory_order_relaxed);
        uint64_t check = atomic_load_explicit(&slot->check, memory_order_relaxed);
        if ((check ^ data) == key && data_bound(data) != BOUND_NONE) {
            *same = true;
            return slot;
        }
        if (slot_worth(tt, data) < worst_worth) {
            worst_worth = slot_worth(tt, data);
            worst = slot;
        }
    }
    *same = false;
    return worst;
}

void tt_store(TT *tt, Key key, int ply, const TTEntry *entry) {
    bool same;
    TTSlot *slot = slot_to_replace(tt, key, &same);
    uint64_t old = atomic_load_explicit(&slot->data, memory_order_relaxed);
    TTEntry fresh = *entry;
    if (same) {
        // Within one search, a bound of less depth does not replace a much deeper result.
        bool current = data_age(old) == tt->age;
        if (current && fresh.bound != BOUND_EXACT && fresh.depth + 4 < data_depth(old))
            return;
        if (fresh.move == MOVE_NONE)
            fresh.move = (Move)old;
    }
    uint64_t data = data_pack(&fresh, score_to_table(fresh.score, ply), tt->age);
    atomic_store_explicit(&slot->data, data, memory_order_relaxed);
    atomic_store_explicit(&slot->check, key ^ data, memory_order_relaxed);
}

void tt_prefetch(const TT *tt, Key key) {
    __builtin_prefetch(cluster_of(tt, key));
}

int tt_permille_full(const TT *tt) {
    size_t clusters = tt->count < 250 ? tt->count : 250;
    int used = 0;
    for (size_t i = 0; i < clusters; i++)
        for (int j = 0; j < CLUSTER_SIZE; j++) {
            uint64_t data =
                atomic_load_explicit(&tt->clusters[i].slots[j].data, memory_order_relaxed);
            used += data_bound(data) != BOUND_NONE && data_age(data) == tt->age;
        }
    return clusters ? used * 1000 / (int)(clusters * CLUSTER_SIZE) : 0;
}
