// All values of the classical evaluation in one table: kind, name and dimensions. The struct of all
// values, the weights of the tuner and the file that it prints are generated from this table. The
// numbers are in values.c, which `engine tune` writes.
#pragma once

#include <stdint.h>

// A middlegame value in the low half and an endgame value in the high half of one int, so that one
// addition adds both ("tapered evaluation" on packed scores; chessprogramming wiki).
typedef int32_t Pair;
#define PAIR(mg, eg) ((Pair)((uint32_t)(eg) << 16) + (mg))
static inline int pair_mg(Pair p) {
    return (int16_t)(uint16_t)(uint32_t)p;
}
static inline int pair_eg(Pair p) {
    return (int16_t)(uint16_t)(((uint32_t)p + 0x8000u) >> 16);
}

// How a value enters the score. All but the first are plain integers, not pairs.
typedef enum {
    VALUE_LINEAR, // a Pair, times the number of occurrences
    VALUE_DANGER, // part of the danger that a king is in, which counts quadratically (king.h)
    // part of the correction of the endgame value by how winnable the position is (winnable.h)
    VALUE_WINNABLE,
    VALUE_TEMPO, // for the side to move, added at the end
} ValueKind;

// X(kind, name, dimensions). Ranks are counted from the owner's side; [4] after them is a half
// rank, files a to d. Pieces are in the order of PieceType, from the pawn or from the knight.
#define EVAL_VALUES(X)                                                                             \
    X(LINEAR, material, [6])                                                                       \
    X(LINEAR, squares, [6][8][4])                                                                  \
    /* pawns (pawn_terms.h); arrays by rank */                                                     \
    X(LINEAR, doubled, )                                                                           \
    X(LINEAR, isolated, )                                                                          \
    X(LINEAR, backward, )                                                                          \
    X(LINEAR, open_weakness, )                                                                     \
    X(LINEAR, doubled_unsupported, )                                                               \
    X(LINEAR, weak_lever, )                                                                        \
    X(LINEAR, connected, [8])                                                                      \
    X(LINEAR, phalanx, [8])                                                                        \
    X(LINEAR, pawn_support, [8])                                                                   \
    X(LINEAR, passed, [8])                                                                         \
    X(LINEAR, candidate, [8])                                                                      \
    /* pieces (pieces.h); mobility by the number of squares */                                     \
    X(LINEAR, knight_mobility, [9])                                                                \
    X(LINEAR, bishop_mobility, [14])                                                               \
    X(LINEAR, rook_mobility, [15])                                                                 \
    X(LINEAR, queen_mobility, [28])                                                                \
    X(LINEAR, bishop_pair, )                                                                       \
    X(LINEAR, knight_outpost, )                                                                    \
    X(LINEAR, bishop_outpost, )                                                                    \
    X(LINEAR, knight_reaches_outpost, )                                                            \
    X(LINEAR, minor_king_distance, [2])                                                            \
    X(LINEAR, bishop_bad_pawn, )                                                                   \
    X(LINEAR, bishop_shut_in, )                                                                    \
    X(LINEAR, bishop_long_diagonal, )                                                              \
    X(LINEAR, bishop_xray_pawn, )                                                                  \
    X(LINEAR, minor_behind_pawn, )                                                                 \
    X(LINEAR, rook_open_file, )                                                                    \
    X(LINEAR, rook_half_open_file, )                                                               \
    X(LINEAR, rook_on_seventh, )                                                                   \
    X(LINEAR, rook_behind_passed, )                                                                \
    X(LINEAR, rook_trapped, )                                                                      \
    X(LINEAR, rook_on_queen_file, )                                                                \
    X(LINEAR, queen_infiltrates, )                                                                 \
    X(LINEAR, knight_for_pawn, )                                                                   \
    X(LINEAR, rook_for_pawn, )                                                                     \
    X(LINEAR, rook_pair, )                                                                         \
    /* king (king.h); shelter and storm by the nearest pawn's rank, 0: none */                     \
    X(LINEAR, shelter, [8])                                                                        \
    X(LINEAR, storm, [8])                                                                          \
    X(LINEAR, king_on_open_file, )                                                                 \
    X(LINEAR, king_bare_flank, )                                                                   \
    X(DANGER, king_attacker, [4])                                                                  \
    X(DANGER, king_hit, )                                                                          \
    X(DANGER, king_weak_square, )                                                                  \
    X(DANGER, safe_check, [4])                                                                     \
    X(DANGER, unsafe_check, )                                                                      \
    X(DANGER, flank_attack, )                                                                      \
    X(DANGER, flank_defence, )                                                                     \
    X(DANGER, king_blocker, )                                                                      \
    X(DANGER, knight_guard, )                                                                      \
    X(DANGER, no_queen, )                                                                          \
    /* passed pawns among the pieces (passed.h); by rank */                                        \
    X(LINEAR, passed_free_stop, [8])                                                               \
    X(LINEAR, passed_free_path, [8])                                                               \
    X(LINEAR, passed_safe_stop, [8])                                                               \
    X(LINEAR, passed_guarded_stop, [8])                                                            \
    X(LINEAR, passed_blockaded, [8])                                                               \
    X(LINEAR, passed_own_king, [8])                                                                \
    X(LINEAR, passed_their_king, [8])                                                              \
    X(LINEAR, passed_hunted, )                                                                     \
    X(LINEAR, passed_file, [4])                                                                    \
    X(LINEAR, passed_unstoppable, )                                                                \
    /* threats (threats.h) */                                                                      \
    X(LINEAR, pawn_attacks_piece, )                                                                \
    X(LINEAR, minor_attacks_major, )                                                               \
    X(LINEAR, minor_attacks_minor, )                                                               \
    X(LINEAR, minor_attacks_pawn, )                                                                \
    X(LINEAR, rook_attacks_queen, )                                                                \
    X(LINEAR, rook_attacks_minor, )                                                                \
    X(LINEAR, rook_attacks_pawn, )                                                                 \
    X(LINEAR, king_attacks_weak, )                                                                 \
    X(LINEAR, piece_hangs, )                                                                       \
    X(LINEAR, pawn_hangs, )                                                                        \
    X(LINEAR, pawn_push_threat, )                                                                  \
    X(LINEAR, knight_can_hit_queen, )                                                              \
    X(LINEAR, slider_can_hit_queen, )                                                              \
    X(LINEAR, queen_in_line, )                                                                     \
    X(LINEAR, restricted, )                                                                        \
    /* space (space.h); by the number of own pieces */                                             \
    X(LINEAR, space, [8])                                                                          \
    /* how winnable the endgame is (winnable.h) */                                                 \
    X(WINNABLE, winnable_base, )                                                                   \
    X(WINNABLE, winnable_pawn, )                                                                   \
    X(WINNABLE, winnable_passed, )                                                                 \
    X(WINNABLE, winnable_outflanking, )                                                            \
    X(WINNABLE, winnable_both_flanks, )                                                            \
    X(WINNABLE, winnable_infiltration, )                                                           \
    X(WINNABLE, winnable_pawns_only, )                                                             \
    X(WINNABLE, winnable_hardly, )                                                                 \
    X(TEMPO, tempo, )

// Nothing but Pairs and plain integers of the same size, so that value i of all is well defined.
typedef struct EvalValues {
#define X(kind, name, dimensions) int32_t name dimensions;
    EVAL_VALUES(X)
#undef X
} EvalValues;
enum { EVAL_COUNT = sizeof(EvalValues) / sizeof(int32_t) };

// The values the engine plays with.
extern const EvalValues EVAL;

// The table itself, for the tuner: row by row, in the order of the struct.
typedef struct EvalRow {
    const char *name, *dimensions; // as above: "[6][8][4]", "" for a single value
    ValueKind kind;
    int count;
} EvalRow;
enum {
#define X(kind, name, dimensions) +1
    EVAL_ROW_COUNT = EVAL_VALUES(X)
#undef X
};
extern const EvalRow EVAL_ROWS[EVAL_ROW_COUNT];
