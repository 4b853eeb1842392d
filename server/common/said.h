// How often what an engine says about its moves is wrong. It changes no result: an engine that
// errs here searches or prints badly, and scores that are wrong mislead the rules of adjudication.
#pragma once

// A move counts under the first of these that holds for it.
typedef enum {
    SAID_ILLEGAL_PV, // a move of its principal variation is illegal
    SAID_OTHER_MOVE, // its principal variation begins with another move than the one it plays
    SAID_FALSE_MATE, // it announces a mate that the move or the principal variation disproves
    SAID_NO_SCORE,   // no score, or no depth, where there is more than one legal move
    SAID_KINDS
} SaidKind;

// The names of the kinds on the wire, "illegal_pv", and in words.
extern const char *const said_names[SAID_KINDS], *const said_words[SAID_KINDS];

typedef struct Said {
    int moves, wrong[SAID_KINDS];
} Said;

void said_add(Said *sum, const Said *more);
int said_wrong(const Said *said); // moves of all kinds
