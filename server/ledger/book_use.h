// How far a test has come in its book. Pair i of a test plays opening i of an order that its seed
// gives. Under a clock the games of an opening differ each time, so a test may go through its book
// again. At fixed nodes or depth, with one thread on both sides, the second pass would repeat the
// first game by game, and the evidence would grow from nothing: such a test ends when its book is
// spent. Its pairs are dealt in whole batches, so the last openings may stay unused.
//
// An opening is spent when it was dealt. The pairs of a machine that is excluded are not played
// again: they would count twice if the exclusion is undone.
#pragma once

#include "server/db/turn.h"

// The pairs that the test may be dealt; -1: as many as it likes.
int64_t book_limit(bool repeats, int64_t openings, int64_t batch_pairs);
// Whether the test was dealt each opening that it may play, and no machine holds or may still get
// one.
bool book_is_spent(Db *db, int64_t test);
