// Games that a rule of adjudication ended and that were played on, so that it is known how often
// such rules are wrong. The server chooses the games: one in a hundred, by its test's seed. The
// other end of a game changes no result; it may come long after the batch of its game, or never.
#pragma once

#include "server/db/turn.h"
#include "server/ledger/replay.h"

enum { ENDING_BODY_MAX = 16 << 10 };

// Whether game `game` (0 or 1) of pair `pair` of a test is played on if a rule ends it.
bool ending_is_wanted(int64_t seed, int64_t pair, int game);

// A body that arrived: game `game` of the task, 2 * pair + which of the pair.
typedef struct Ending {
    int64_t task, worker, game;
    const char *sha256; // of the body
    OtherEnd end;
    int64_t thought_ms, rest_ms;
} Ending;

// Where its game is stored.
typedef struct EndingPlace {
    bool there, chess960; // there: the same body has arrived before
    char games[65];
    int64_t first_pair, pairs; // of the batch
    int number;                // of the game in the batch
} EndingPlace;

// Reads only, so a reader may call it. 409 `not_wanted`: another game is played on. 409
// `ending_early`: send its batch first. 409 `no_games`: the games of its batch are not stored. 409
// `ending_conflict`: another body has arrived.
bool ledger_ending_place(Turn *turn, const Ending *ending, EndingPlace *place, Error *err);
// Stores what the replay found. A repeat changes nothing.
bool ledger_ending(Turn *turn, const Ending *ending, const EndingFound *found, Error *err);
