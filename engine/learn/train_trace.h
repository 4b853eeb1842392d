// Targets that use the rest of the game. A search of a few hundred nodes makes errors, and the
// searches of the next moves show many of them. So the target of a position is a mixture of its own
// score and the target of the next position, which has the share `trace` (temporal differences,
// TD(λ); Sutton, "Learning to predict by the methods of temporal differences", 1988). Both are
// mixed as winning chances.
#pragma once

#include "learn/gamefile.h"

// Computes the targets, in centipawns of White's view, for each ply of the game. They are within
// ±TRAIN_SCORE_MOST unless `trace` is 0; with 0 the targets are the scores. 0 <= trace < 1. `scale`
// is that of the loss, see train_loss.h.
void train_trace(const GameFileRecord *game, double trace, double scale,
                 int16_t out[GAMEFILE_PLIES_MAX]);
