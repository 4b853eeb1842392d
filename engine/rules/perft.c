// Perft: the number of leaf nodes of the legal move tree. At the last ply moves are counted without
// being listed.

#include "rules/generate.h"
#include "rules/movegen.h"
#include "rules/position.h"

RULES_INLINE uint64_t count_moves(const Position *pos, Color us) {
    Sink sink = {0};
    generate(pos, us, GENERATE_COUNT, &sink);
    return (uint64_t)sink.count;
}

uint64_t perft(Position *pos, int depth) {
    if (depth <= 0)
        return 1;
    if (depth == 1)
        return pos->side == WHITE ? count_moves(pos, WHITE) : count_moves(pos, BLACK);
    MoveList list;
    movegen_legal(pos, &list);
    uint64_t nodes = 0;
    for (int i = 0; i < list.size; i++) {
        Undo undo;
        position_make(pos, list.moves[i], &undo);
        nodes += perft(pos, depth - 1);
        position_unmake(pos, list.moves[i], &undo);
    }
    return nodes;
}
