// Random openings.
#include "commands/opening.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "rules/movegen.h"

// Puts `piece` on the nth empty file.
static void place(char row[9], int nth, char piece) {
    for (int file = 0; file < 8; file++)
        if (row[file] == ' ' && nth-- == 0) {
            row[file] = piece;
            return;
        }
}

// Bishops stand on opposite colours, and the king stands between the rooks: rook, king and rook
// take the three files that the other pieces leave.
static void random_back_rank(uint64_t *random, char row[9]) {
    memcpy(row, "        ", 9);
    row[2 * random_below(random, 4)] = 'b';
    row[2 * random_below(random, 4) + 1] = 'b';
    place(row, random_below(random, 6), 'q');
    place(row, random_below(random, 5), 'n');
    place(row, random_below(random, 4), 'n');
    place(row, 0, 'r');
    place(row, 0, 'k');
    place(row, 0, 'r');
}

static void start_fen(uint64_t *random, bool chess960, char fen[FEN_MAX]) {
    if (!chess960) {
        snprintf(fen, FEN_MAX, "%s", POSITION_START_FEN);
        return;
    }
    char black[9], white[9];
    random_back_rank(random, black);
    for (int i = 0; i < 9; i++)
        white[i] = (char)(black[i] >= 'a' ? black[i] - 'a' + 'A' : black[i]);
    snprintf(fen, FEN_MAX, "%s/pppppppp/8/8/8/8/PPPPPPPP/%s w KQkq - 0 1", black, white);
}

void opening_start(uint64_t *random, bool chess960, Position *pos) {
    char fen[FEN_MAX];
    Refusal err;
    start_fen(random, chess960, fen);
    bool is_good = position_from_fen(pos, fen, chess960, &err);
    assert(is_good);
    (void)is_good;
}

bool opening_walk(uint64_t *random, int plies, Position *pos) {
    MoveList list;
    plies += random_below(random, 2);
    for (int i = 0; i < plies; i++) {
        Undo undo;
        movegen_legal(pos, &list);
        if (list.size == 0)
            return false;
        position_make(pos, list.moves[random_below(random, list.size)], &undo);
    }
    movegen_legal(pos, &list);
    return list.size > 0 && !pos->checkers;
}
