// What a game came to, in the scores it is learned from: a search of a few hundred nodes errs, and
// the searches of the next moves have seen further. By temporal differences (TD(λ); Sutton,
// "Learning to predict by the methods of temporal differences", 1988) a position's target is its
// own score and, to a share of `trace`, the target of the position after it, mixed as chances.
#pragma once

#include "learn/gamefile.h"

// Targets in centipawns of White's view for each ply of the game, no further from 0 than
// TRAIN_SCORE_MOST where `trace` is not 0; with 0 the scores as they are. 0 <= trace < 1; `scale`
// as the loss has it, see train_loss.h.
void train_trace(const GameFileRecord *game, double trace, double scale,
                 int16_t out[GAMEFILE_PLIES_MAX]);
