// What the document of a test says of its games: how many there are, where they can be read, or
// that they were dropped.
#pragma once

#include "server/pages/doc.h"

// {"counted", "stored", "dropped", "pgn", "jsonl", "text"} of the test of this row; `stats` are
// its statistics. null if it plays no games. New.
json_t *doc_games(const DocContext *ctx, const json_t *row, const json_t *stats);
// False: 410 `games_dropped`, if they were dropped at that time. NaN: they were not.
bool doc_games_dropped(int64_t test, double dropped, Error *err);
