// See walk.h. A walk chooses among the legal moves in the order of their squares, not in the order
// in which movegen finds them, which a faster movegen may change.
#include "book/walk.h"

#include "base/random.h"
#include "rules/movegen.h"

static const uint64_t WALK_SEED = 2026;

static int rank_of(Move move) {
    int piece = move_kind(move) == MOVE_PROMOTION ? (int)move_promotion(move) : 0;
    return (move_from(move) << 6 | move_to(move)) << 3 | piece;
}

// The move that would stand at `place` if the list were in order; no two moves have the same rank.
static Move move_at(const MoveList *list, int place) {
    int ranks[MOVES_MAX], i = 0;
    for (int k = 0; k < list->size; k++)
        ranks[k] = rank_of(list->moves[k]);
    for (;; i++) {
        int before = 0;
        for (int k = 0; k < list->size; k++)
            before += ranks[k] < ranks[i];
        if (before == place)
            return list->moves[i];
    }
}

bool walk_exit(uint32_t number, Position *pos) {
    MoveList list;
    uint64_t random = random_stream(WALK_SEED, number);
    if (!position_from_fen(pos, POSITION_START_FEN, false, NULL))
        return false;
    for (int plies = WALK_PLIES + random_below(&random, 2); plies > 0; plies--) {
        Undo undo;
        movegen_legal(pos, &list);
        if (list.size == 0)
            return false;
        position_make(pos, move_at(&list, random_below(&random, list.size)), &undo);
    }
    movegen_legal(pos, &list);
    return list.size > 0 && !pos->checkers;
}

char *walk_epd(const Position *pos, char out[FEN_MAX]) {
    position_to_fen(pos, out);
    for (int blanks = 0, i = 0; out[i]; i++)
        if (out[i] == ' ' && ++blanks == 4)
            out[i--] = '\0';
    return out;
}
