// Replays the games of a batch, as their worker uploaded them, with the rules of chess and of the
// test, and compares them with the batch's counts: the opening and the colours of each pair, legal
// moves, a game that ends when it is over and not later, a result that follows from it (by the
// scores, if a rule of adjudication ended it), possible clocks, and how long the engines thought.
// What it cannot know is whether an engine made the moves. Pure. The bytes come from outside, so
// every length is bounded.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/ledger/replay_facts.h"

// Bytes of a game as JSON, and of the games of a batch as text and packed. Measured: a game of 2048
// plies, the longest possible, with the longest numbers takes 67 KB, and 31 KB packed by zstd. A
// game of 120 plies takes 4 KB, and 2 KB packed.
enum { GAME_LINE_MAX = 128 << 10, GAME_PACKED_MAX = 32 << 10 };
size_t games_text_max(int64_t pairs);   // at most 64 MiB
size_t games_packed_max(int64_t pairs); // at most 8 MiB
// Checks games as a worker uploads them, packed by zstd: their size, and that there are two lines
// for each pair, each like an object. Parses nothing. 413 `too_large`, 422 `bad_games`.
bool games_check(const void *packed, size_t size, int pairs, Error *err);

// Reads a test's rules of adjudication, as they are stored. False: they are no such object.
bool replay_rules(const char *json, Adjudication *out);

// The rest of a game that a rule of adjudication ended and that was played on.
typedef struct OtherEnd {
    const char *moves, *result, *end; // result "*" and end "open": it has no end
} OtherEnd;
enum { OTHER_END_PLIES_MAX = 400 };

typedef enum { ENDING_RIGHT, ENDING_WRONG, ENDING_UNKNOWN } EndingJudgement;
typedef struct EndingFound {
    bool ruled_draw; // the rule gave a draw, not a win
    EndingJudgement rule;
} EndingFound;

// Replays game `number` of the batch and its other end; of the facts, only the first pair and the
// variant matter. False: `err` (422 `replay_mismatch`) says what is wrong.
bool replay_ending(const char *text, size_t size, const ReplayFacts *facts, int number,
                   const OtherEnd *other, EndingFound *found, Error *err);

// `text`: JSON lines as in API.md, two for each pair. A line of more than GAME_LINE_MAX bytes is
// refused before it is parsed, because a JSON value takes up to a hundred times its text in memory.
// False: `err` (422 `replay_mismatch`) names the line and its mistake. Call rules_init() before.
bool replay_games(const char *text, size_t size, const ReplayFacts *facts, Error *err);
