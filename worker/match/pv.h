// Checks that a principal variation is possible: its moves are legal, none follows the end of the
// game, a mate is as long as announced, and its first move is the move that was played.
#pragma once

#include "engine/rules/game.h"
#include "engine/rules/notation.h"
#include "worker/uci/uci_reply.h"

enum { PV_PROBLEM_MAX = 96 };

// The rest of a principal variation.
typedef struct PvText {
    const char *at, *end; // NULL: there is none
} PvText;

PvText pv_text(const char *info, size_t size);
// Takes the next word. False at the end, or if another part of the line begins.
bool pv_next(PvText *pv, char text[UCI_WORD_MAX]);
// `game` stands before `played`, and is unchanged afterwards. `info` is the line with the PV.
// False: nothing is wrong, or there is no PV. True: `problem` says what, "Illegal PV move e2e5". If
// the score of the line is a bound, its PV need not begin with the move that was played.
bool pv_problem(Game *game, const char *info, size_t size, bool bound, Move played,
                char problem[PV_PROBLEM_MAX]);
