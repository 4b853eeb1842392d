// Finished games of a match as PGN. Reading PGN is engine/rules/pgn.h's.
#pragma once

#include "../server/common/str.h"
#include "match.h"

typedef struct PgnHeader {
    const char *event, *site;
    const char *names[2];   // of the engines
    const char *control[2]; // their time controls as text
    bool chess960;
} PgnHeader;

// Appends one game, with score, depth and time of every move as a comment: {+0.23/12 1.234s}.
void pgn_out_game(Str *out, const PgnHeader *header, const GameRecord *record);
