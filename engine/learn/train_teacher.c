// See train_teacher.h.
#include "train_teacher.h"

#include "../eval.h"
#include "../evaluator.h"

Score train_teacher_score(const TrainTeacher *teacher, const Position *pos) {
    Score classical = evaluate(pos, teacher->pawns);
    return teacher->net ? (classical + position_evaluate(pos, teacher->net)) / 2 : classical;
}
