// What a batch says of its games, and under which conditions they were to be played.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/common/adjudicate.h"
#include "server/common/time_control.h"
#include "server/ledger/game_print.h"

typedef struct ReplayFacts {
    int64_t first_pair;          // number in the test of the batch's first pair
    const char *outcomes;        // one digit for each pair
    int64_t wins, losses, draws; // of the new side
    int64_t crashes, time_losses;
    int64_t ponders[2];     // games lost by it: of the new side, of the base side
    const json_t *openings; // [{"fen","moves"}], one for each pair, as dealt
    Adjudication rules;     // of the test: replay_rules()
    TimeControl clocks[2];  // of the new side and of the base side, as played
    int64_t margin_ms[2];   // of both sides: the flag falls at minus that
    int64_t thought;        // ms, by both sides in all games
    int64_t said_moves;     // moves of both sides that were checked; 0: not counted
    GamePrints *prints;     // gets the marks of the games; NULL: not wanted
    bool chess960;
} ReplayFacts;
