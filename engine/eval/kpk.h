// King and pawn against king: whether the side with the pawn wins. The table has one bit for each
// position, 24 kB, and is computed when the program starts.
#pragma once

#include "rules/types.h"

// Fills the table; cheap and idempotent. Needs rules_init().
void kpk_init(void);
// `strong` has the pawn; `side` is to move. The position must be a legal one.
bool kpk_is_won(Color strong, Square king, Square pawn, Square their_king, Color side);
