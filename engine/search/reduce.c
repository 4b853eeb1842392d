// Reductions, one idea per function, with its numbers before it.
#include "search/reduce.h"

// Reductions in 1024ths of a ply by depth and number of the move.
static int reductions[PLY_MAX][64];

// The binary logarithm in 1024ths, by squaring. It uses integers only, so that it is the same on
// every machine.
static int log2_1024(unsigned x) {
    int whole = 31 - __builtin_clz(x), result = whole << 10;
    uint64_t m = (uint64_t)x << (30 - whole); // in [2^30, 2^31)
    for (int bit = 1 << 9; bit; bit >>= 1) {
        m = m * m >> 30;
        if (m >> 31) {
            m >>= 1;
            result |= bit;
        }
    }
    return result;
}

void reductions_init(void) {
    for (unsigned depth = 1; depth < PLY_MAX; depth++)
        for (unsigned count = 1; count < 64; count++)
            reductions[depth][count] = 700 + log2_1024(depth) * log2_1024(count) / 1024 * 2 / 9;
}

enum { IIR_DEPTH = 4 };

// Without a move from the table the order of moves is poor. A search with less depth finds such a
// move for the next visit (Schröder, "internal iterative reductions", 2021).
int internal_iterative_reduction(const Node *node) {
    return node->depth >= IIR_DEPTH && node->table.move == MOVE_NONE;
}

enum { LMR_DEPTH = 3 };

// Moves late in a good order are seldom best, so they are searched less deep first (Romstad, "An
// introduction to late move reductions", 2006). The reduction grows with the logarithms of depth
// and move count.
int late_move_reduction(const Node *node, const Candidate *move) {
    if (node->depth < LMR_DEPTH || move->searched_count < 2 + 2 * node->is_pv || !move->is_quiet)
        return 0;
    int reduction = reductions[node->depth][move->searched_count < 64 ? move->searched_count : 63];
    reduction -= 1024 * node->is_pv;
    reduction -= 1024 * (move->gives_check || node->in_check);
    reduction += 700 * !node->improving;
    reduction -= move->history / 10;
    int plies = reduction / 1024;
    int most = node->depth - 2;
    return plies < 0 ? 0 : plies > most ? most : plies;
}
