// Packed positions of the trainer, and the features of both views.
#include "learn/train_position.h"

#include "rules/bitboard.h"

// Half a turn of the board takes square s to s ^ 63.
enum { HALF_TURN = 63 };

static int plane_at(const TrainPosition *packed, int nth) {
    return packed->planes[nth / 2] >> 4 * (nth & 1) & 15;
}

void train_position_pack(const Position *pos, int white_score, int white_result,
                         TrainPosition *out) {
    int turn = pos->side == WHITE ? 0 : HALF_TURN, nth = 0;
    *out = (TrainPosition){0};
    for (Bitboard b = position_occupied(pos); b;)
        out->occupied |= UINT64_C(1) << (bitboard_pop(&b) ^ turn);
    for (Bitboard b = out->occupied; b; nth++) {
        Piece piece = pos->board[bitboard_pop(&b) ^ turn];
        int plane = 2 * (int)piece_type(piece) + (piece_color(piece) != pos->side);
        out->planes[nth / 2] |= (uint8_t)(plane << 4 * (nth & 1));
    }
    out->kings[0] = (uint8_t)(position_king(pos, pos->side) ^ turn);
    out->kings[1] = (uint8_t)(position_king(pos, color_flip(pos->side)) ^ turn ^ HALF_TURN);
    out->score = (int16_t)(pos->side == WHITE ? white_score : -white_score);
    out->result = (uint8_t)(pos->side == WHITE ? white_result : 2 - white_result);
}

// For one square of a view's own king: where the view's rows begin, and how its squares are
// mirrored.
typedef struct View {
    int base, flip;
} View;

static View view_of(int king, const uint8_t bucket_of[32]) {
    return (View){.base = train_bucket(bucket_of, king) * NET_FEATURES,
                  .flip = (king & 7) < 4 ? 0 : 7};
}

void train_position_features(const TrainPosition *packed, const uint8_t bucket_of[32],
                             TrainFeatures *out) {
    View own = view_of(packed->kings[0], bucket_of), their = view_of(packed->kings[1], bucket_of);
    int count = 0, nth = 0;
    for (Bitboard b = packed->occupied; b; nth++) {
        int square = bitboard_pop(&b), plane = plane_at(packed, nth);
        if (plane >= PLANE_OWN_KING)
            continue;
        int their_square = square ^ HALF_TURN ^ their.flip;
        out->rows[0][count] = (uint16_t)(own.base + 64 * plane + (square ^ own.flip));
        out->rows[1][count] = (uint16_t)(their.base + 64 * (plane ^ 1) + their_square);
        count++;
    }
    out->count = count;
}
