// Static exchange evaluation: the material that a series of captures on one square wins or loses.
#pragma once

#include "base/score.h"
#include "rules/position.h"

// Piece values for exchanges. The evaluation has other values.
extern const Score SEE_VALUE[8];

// The piece type that `move` takes, NO_PIECE_TYPE if none. Castling takes nothing.
PieceType move_captured_type(const Position *pos, Move move);
// True if `move` is neither a capture nor a promotion to a queen.
bool move_is_quiet(const Position *pos, Move move);

// True if the legal `move` wins at least `threshold` when both sides continue to capture on its
// target with the least valuable piece first, and each side may stop. Pins are ignored. (The
// iterative "swap algorithm" against a bound; chessprogramming wiki, Static Exchange Evaluation.)
bool see_at_least(const Position *pos, Move move, Score threshold);
// True if a capture or promotion of the side to move wins material by this measure.
bool see_wins_material(const Position *pos);
