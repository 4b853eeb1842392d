// Targets from the scores of a whole game. train_trace.h explains them.
#include "learn/train_trace.h"

#include <math.h>

#include "learn/train_loss.h"

static double chance_of(int score, double scale) {
    score = score > TRAIN_SCORE_MOST ? TRAIN_SCORE_MOST : score;
    score = score < -TRAIN_SCORE_MOST ? -TRAIN_SCORE_MOST : score;
    return 1 / (1 + exp(-(double)TRAIN_UNITS_PER_CENTIPAWN * score / scale));
}

static int16_t score_of(double chance, double scale) {
    return (int16_t)lround(log(chance / (1 - chance)) * scale / (double)TRAIN_UNITS_PER_CENTIPAWN);
}

void train_trace(const GameFileRecord *game, double trace, double scale,
                 int16_t out[GAMEFILE_PLIES_MAX]) {
    double target = 0;
    for (int i = game->plies - 1; i >= 0; i--) {
        double own = chance_of(game->moves[i].score, scale);
        target = i == game->plies - 1 ? own : (1 - trace) * own + trace * target;
        out[i] = trace > 0 ? score_of(target, scale) : game->moves[i].score;
    }
}
