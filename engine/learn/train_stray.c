// Positions a random move off the games: see train_stray.h.
#include "train_stray.h"

#include <stdlib.h>

#include "../rules/movegen.h"
#include "../see.h"
#include "train_random.h"

// False where the position does not speak for itself.
static bool judge(Position *pos, const TrainTeacher *teacher, TrainPosition *out) {
    if (pos->checkers || see_wins_material(pos))
        return false;
    pos->rule50 = 0; // what it is worth, undamped
    Score score = train_teacher_score(teacher, pos);
    if (abs(score) > TRAIN_SCORE_MOST)
        return false;
    train_position_pack(pos, pos->side == WHITE ? score : -score, 0, out);
    out->result = TRAIN_RESULT_NONE;
    return true;
}

int train_strays(const Position *pos, int wanted, uint64_t *random, const TrainTeacher *teacher,
                 TrainPosition out[TRAIN_STRAYS_MAX]) {
    MoveList list;
    int count = 0;
    movegen_legal(pos, &list);
    for (int i = 0; i < wanted && i < list.size; i++) {
        int pick = i + (int)random_index(random, (uint32_t)(list.size - i));
        Move move = list.moves[pick];
        list.moves[pick] = list.moves[i];
        Position stray = *pos;
        Undo undo;
        position_make(&stray, move, &undo);
        count += judge(&stray, teacher, &out[count]);
    }
    return count;
}
