// A game of the archive as people and programs get it: as PGN, and as a line of JSON. API.md
// describes both. A machine sent the game, so the text shows nothing of it but members that are
// known, and no character that acts in a terminal.
#pragma once

#include "server/ledger/archive.h"

// Appends a game with the seven tags, tags that say where it belongs, and a comment for each move:
// score and depth, time, nodes, and what is left on the clock. False: the game cannot be played.
bool game_file_pgn(Str *out, const ArchivedGame *game, Error *err);
// Appends a line that begins with where the game belongs, as the machine sent it otherwise.
bool game_file_json(Str *out, const ArchivedGame *game, Error *err);
