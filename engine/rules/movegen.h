// Legal moves. Every move of a list may be played without a further test.
#pragma once

#include "rules/position.h"

typedef struct MoveList {
    int size;
    Move moves[MOVES_MAX];
} MoveList;

void movegen_legal(const Position *pos, MoveList *list);    // all
void movegen_captures(const Position *pos, MoveList *list); // captures and queen promotions
void movegen_quiets(const Position *pos, MoveList *list);   // all that movegen_captures leaves out

// Whether any 16 bits are a legal move here (a hash move, a move from outside).
bool move_is_legal(const Position *pos, Move move);
bool move_is_capture(const Position *pos, Move move);
bool move_gives_check(const Position *pos, Move move);

// Leaf nodes of the legal move tree; counts the last ply without making its moves.
uint64_t perft(Position *pos, int depth);
