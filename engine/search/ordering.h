// The order in which moves are tried. Alpha-beta depends on it. The stages are: the table's move;
// captures that lose no material by static exchange, the most valuable victim first (MVV-LVA);
// killers and the counter move; the other quiet moves by history, with a bonus for moves that save
// a piece; captures that lose material. Moves are generated when their stage is reached.
#pragma once

#include "search/searcher.h"

typedef enum {
    PICK_TABLE_MOVE,
    PICK_GENERATE_CAPTURES,
    PICK_CAPTURES,
    PICK_REFUTATIONS,
    PICK_GENERATE_QUIETS,
    PICK_QUIETS,
    PICK_BAD_CAPTURES,
    PICK_DONE,
} PickStage;

enum { REFUTATIONS = 3 };

typedef struct MovePicker {
    Searcher *searcher;
    PickStage stage;
    bool captures_only; // captures that lose material are left out as well
    bool skip_quiets;   // may be set at any time: no more quiet moves
    Move table_move;
    Move refutations[REFUTATIONS];
    int next;
    MoveList list, bad;
    int scores[MOVES_MAX];
} MovePicker;

// `table_move` may be any 16 bits.
void picker_init(MovePicker *picker, Searcher *s, Move table_move);
void picker_init_captures(MovePicker *picker, Searcher *s, Move table_move);
// The next legal move. Each move comes once; MOVE_NONE at the end.
Move picker_next(MovePicker *picker);

// The history of a quiet move: a sum, within about ±5 × HISTORY_MAX.
int quiet_history(Searcher *s, Move move);
// The history of a capture, within ±HISTORY_MAX.
int capture_history(Searcher *s, Move move);

// Moves tried at a node before the one that failed high, in order.
typedef struct TriedMoves {
    int quiet_count, capture_count;
    Move quiets[64], captures[32];
} TriedMoves;

void tried_add(TriedMoves *tried, const Position *pos, Move move);
// Increases the history of `best`, which caused a cutoff, and reduces that of the moves tried
// before.
void ordering_learn(Searcher *s, Move best, int depth, const TriedMoves *tried);
// Increases the history of the opponent's quiet move that led to a node where no move raised alpha.
void ordering_learn_failed_low(Searcher *s, int depth);
