// What a position is worth without a search, as a pupil is told: by the classical evaluation, or by
// that and an older net in halves. Two judges that err in different places err less together than
// either, and what they say has no noise that a pupil would have to average away. (Hinton, Vinyals
// and Dean, "Distilling the knowledge in a neural network", 2015.)
#pragma once

#include "../nnue/nnue.h"
#include "../pawns.h"
#include "../score.h"

typedef struct TrainTeacher {
    PawnCache *pawns;   // borrowed
    const Network *net; // borrowed; NULL: the classical evaluation alone
} TrainTeacher;

// Centipawns for the side to move.
Score train_teacher_score(const TrainTeacher *teacher, const Position *pos);
