// Pawn structure: doubled, isolated, backward, connected and passed pawns. What passed pawns are
// worth beyond their rank depends on the pieces and is in eval_passed.c.
#include "pawns.h"

#include <string.h>

#include "eval_terms.h"

static const Pair DOUBLED = PAIR(-7, -24);
static const Pair ISOLATED = PAIR(-13, -15);
static const Pair BACKWARD = PAIR(-9, -12);
static const Pair OPEN_WEAKNESS = PAIR(-10, -6); // isolated or backward on a half-open file
// By rank, from the pawn's own side.
static const Pair CONNECTED[8] = {
    0, PAIR(4, 1), PAIR(10, 6), PAIR(14, 10), PAIR(28, 24), PAIR(55, 50), PAIR(90, 85), 0};
static const Pair PASSED[8] = {
    0, PAIR(2, 14), PAIR(0, 20), PAIR(8, 42), PAIR(34, 78), PAIR(78, 140), PAIR(120, 220), 0};

void pawn_cache_clear(PawnCache *cache) {
    memset(cache, 0, sizeof *cache);
    // An empty entry must not pass for the structure whose key is zero.
    cache->entries[0].key = 1;
}

Bitboard pawns_attacks(Color c, Bitboard pawns) {
    Bitboard west = pawns & ~bitboard_file(0), east = pawns & ~bitboard_file(7);
    return c == WHITE ? west << 7 | east << 9 : west >> 9 | east >> 7;
}

Bitboard pawns_front(Color c, Bitboard set) {
    if (c == WHITE) {
        set <<= 8;
        set |= set << 8;
        set |= set << 16;
        return set | set << 32;
    }
    set >>= 8;
    set |= set >> 8;
    set |= set >> 16;
    return set | set >> 32;
}

static Bitboard neighbour_files(Square s) {
    Bitboard file = bitboard_file(square_file(s));
    return (file & ~bitboard_file(0)) >> 1 | (file & ~bitboard_file(7)) << 1;
}

static Pair judge_weakness(Square s, Color us, Bitboard ours, Bitboard theirs) {
    Bitboard self = square_bb(s), stop = us == WHITE ? self << 8 : self >> 8;
    Bitboard neighbours = ours & neighbour_files(s);
    bool half_open = !(pawns_front(us, self) & theirs);
    Pair score = 0;
    if (pawns_front(us, self) & ours)
        score += DOUBLED;
    if (!neighbours)
        return score + ISOLATED + (half_open ? OPEN_WEAKNESS : 0);
    // Backward: no neighbour beside or behind it, and the square before it is theirs.
    Bitboard not_ahead = ~pawns_front(us, bitboard_rank(square_rank(s)));
    if (!(neighbours & not_ahead) && pawns_attacks(color_flip(us), theirs) & stop)
        score += BACKWARD + (half_open ? OPEN_WEAKNESS : 0);
    return score;
}

static bool pawn_is_connected(Square s, Color us, Bitboard ours) {
    Bitboard phalanx = ours & neighbour_files(s) & bitboard_rank(square_rank(s));
    return phalanx || attacks_pawn(color_flip(us), s) & ours;
}

// No enemy pawn ahead on its own or a neighbouring file, nor an own one in its way.
static bool pawn_is_passed(Square s, Color us, Bitboard ours, Bitboard theirs) {
    Bitboard ahead = pawns_front(us, square_bb(s));
    Bitboard flanks =
        pawns_front(us, square_bb(s) | (neighbour_files(s) & bitboard_rank(square_rank(s))));
    return !(flanks & theirs) && !(ahead & ours);
}

static Pair judge_side(const Position *pos, Color us, PawnEntry *entry) {
    Bitboard ours = position_pieces(pos, us, PAWN);
    Bitboard theirs = position_pieces(pos, color_flip(us), PAWN);
    Pair score = 0;
    entry->spans[us] = pawns_attacks(us, ours | pawns_front(us, ours));
    for (Bitboard b = ours; b;) {
        Square s = bitboard_pop(&b);
        int rank = square_rank(square_relative(us, s));
        score += judge_weakness(s, us, ours, theirs);
        if (pawn_is_connected(s, us, ours))
            score += CONNECTED[rank];
        if (pawn_is_passed(s, us, ours, theirs)) {
            score += PASSED[rank];
            entry->passed[us] |= square_bb(s);
        }
    }
    return score;
}

const PawnEntry *pawns_probe(PawnCache *cache, const Position *pos) {
    PawnEntry *entry = &cache->entries[pos->pawn_key % PAWN_CACHE_SIZE];
    if (entry->key == pos->pawn_key)
        return entry;
    *entry = (PawnEntry){.key = pos->pawn_key};
    Pair white = judge_side(pos, WHITE, entry), black = judge_side(pos, BLACK, entry);
    entry->score = white - black;
    return entry;
}
