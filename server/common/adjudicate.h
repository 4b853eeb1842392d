// Ends a game before the rules of chess end it: a draw by scores, a resignation by scores, or a
// maximum length. The conditions are those of fastchess. They use the score that each engine
// reports for its own moves. A mate score never counts for a draw. A move without a score resets
// all counts to 0. A worker ends games by these rules, and the server checks that it did.
#pragma once

#include <stdbool.h>

typedef struct Adjudication {
    int draw_move, draw_count, draw_score; // draw_count 0: off; cp
    int resign_count, resign_score;        // resign_count 0: off; cp
    bool resign_two_sided;
    int max_moves; // full moves since the opening; 0: off
} Adjudication;

typedef struct AdjudicatedMove {
    bool by_white;
    bool resets;           // a capture or a pawn move
    bool has_score, mates; // mates: the score is a mate in some number of plies
    int score;             // in centipawns, from the mover's point of view
    int number;            // of the last full move that is complete, as a FEN counts
    int plies;             // played since the opening, this one included
} AdjudicatedMove;

typedef struct Adjudicator {
    const Adjudication *rules; // borrowed
    int draw_plies;            // in a row with |score| at most draw_score, since the last capture
                               // or pawn move
    int lost_moves[2];         // of White and Black, in a row with a score at or below
                               // -resign_score
    int decided_plies;         // in a row, both sides, with |score| at least resign_score
} Adjudicator;

typedef enum { DECISION_NONE, DECISION_RESIGNS, DECISION_DRAW, DECISION_TOO_LONG } Decision;

// Counts a move. RESIGNS: the mover resigns. Call it for each move, and only if the rules of chess
// have not ended the game.
Decision adjudicate(Adjudicator *a, const AdjudicatedMove *move);
