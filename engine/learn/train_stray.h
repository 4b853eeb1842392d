// Strays: positions a random move off the games, judged by a teacher without a search. A search
// looks at many positions that no game reaches, most of them after moves nobody would choose; a net
// that learns from games alone knows little of them. They cost a hundredth of a position that was
// searched, so there can be many.
#pragma once

#include "train_position.h"
#include "train_teacher.h"

enum { TRAIN_STRAYS_MAX = 16 }; // of one position

// Makes up to `wanted` random moves on copies of `pos`, and packs what is quiet then: not in check,
// no capture that wins material, not decided. Returns how many; their scores count alone.
int train_strays(const Position *pos, int wanted, uint64_t *random, const TrainTeacher *teacher,
                 TrainPosition out[TRAIN_STRAYS_MAX]);
