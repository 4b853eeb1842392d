// Legal moves. Every move of a list may be played without a further test.
#pragma once

#include "rules/position.h"

typedef struct MoveList {
    int size;
    Move moves[MOVES_MAX];
} MoveList;

void movegen_legal(const Position *pos, MoveList *list);    // all
void movegen_captures(const Position *pos, MoveList *list); // captures and queen promotions
void movegen_quiets(const Position *pos, MoveList *list);   // all other legal moves

// True if `move` is legal in `pos`. It may be any 16 bits (a hash move, a move from outside).
bool move_is_legal(const Position *pos, Move move);
bool move_is_capture(const Position *pos, Move move);
bool move_gives_check(const Position *pos, Move move);

// Leaf nodes of the legal move tree; counts the last ply without making its moves.
uint64_t perft(Position *pos, int depth);
