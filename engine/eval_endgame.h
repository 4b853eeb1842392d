// What is known of endgames beyond the sum of terms. Facts of the position alone, no values.
#pragma once

#include "rules/position.h"

// How much of an endgame advantage of `strong` the material lets one hope to win, in 64ths.
int endgame_scale(const Position *pos, Color strong);
