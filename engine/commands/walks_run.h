// Searches for the walks of a book: in which order its threads come to their walks, and how often
// the run is interrupted, makes no difference to the result.
#pragma once

#include "book/walks.h"

typedef struct WalksPlan {
    WalksRecipe recipe; // all but `walks` and `book`, which the run fills in
    int threads;
    const char *progress; // a file that the run keeps, and continues from. NULL: none
    const Walks *like;    // walks that this run should find again; at the first difference it ends
} WalksPlan;

// Prints its progress on stderr. Release `out` in either case.
bool walks_run(const WalksPlan *plan, Walks *out, Refusal *err) __attribute__((warn_unused_result));
