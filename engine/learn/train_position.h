// A position in the trainer's memory: 32 bytes, seen from the side to move. When Black is to move,
// the board is turned by half a turn and the colours are swapped. After that there are only "own"
// and "their" pieces, and the squares are those that the side to move sees.
#pragma once

#include "nnue/nnue.h"

// The piece on a square: 2 * type, plus 1 for theirs. Up to their queen, this is the plane of
// nnue.h.
enum { PLANE_OWN_KING = 2 * KING, PLANE_THEIR_KING, TRAIN_PIECES_MAX = 32 };
enum { TRAIN_SCORE_MOST = 2000 }; // centipawns; beyond, the game is decided

typedef struct TrainPosition {
    uint64_t occupied;
    uint8_t planes[TRAIN_PIECES_MAX /
                   2]; // of the occupied squares from the lowest, low half of a byte first
    int16_t score;     // centipawns for the side to move
    int16_t classical; // the static evaluation, in the same way; only for validation positions
    uint8_t result;    // half points of the side to move: 0, 1, 2
    uint8_t kings[2];  // king squares, each as its own side sees it
    uint8_t zero;
} TrainPosition;
_Static_assert(sizeof(TrainPosition) == 32, "tens of millions are kept in memory");

// The rows of the first layer that are added for a position: rows[0] for the view of the side to
// move, rows[1] for the other, as bucket * NET_FEATURES + feature.
typedef struct TrainFeatures {
    int count; // number of rows of each view
    uint16_t rows[2][TRAIN_PIECES_MAX];
} TrainFeatures;

// `white_score` and `white_result` (half points) are in White's view, as in a game file.
void train_position_pack(const Position *pos, int white_score, int white_result,
                         TrainPosition *out);
// The bucket of a king's square as its side sees it. `bucket_of` is as in CompactNet.
static inline int train_bucket(const uint8_t bucket_of[32], int king) {
    int rank = king >> 3, file = king & 7;
    return bucket_of[rank * 4 + (file < 4 ? file : 7 - file)];
}
void train_position_features(const TrainPosition *packed, const uint8_t bucket_of[32],
                             TrainFeatures *out);
