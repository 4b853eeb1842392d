// Whether a principal variation can be right: its moves legal, none beyond the end of the game, a
// mate as long as announced, and the move that was played its first.
#pragma once

#include "engine/rules/game.h"
#include "engine/rules/notation.h"
#include "worker/uci/uci_reply.h"

enum { PV_PROBLEM_MAX = 96 };

// `game` stands before `played` and is the same afterwards; `info` is the line that gave the PV.
// False: nothing is wrong, or there is no PV. True: `problem` names it, "Illegal PV move e2e5".
// What follows a bound need not be the move that was played.
bool pv_problem(Game *game, const char *info, size_t size, bool bound, Move played,
                char problem[PV_PROBLEM_MAX]);
