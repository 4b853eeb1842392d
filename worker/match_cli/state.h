// Where an interrupted match stands, as a file: which pairs have been counted and how, and how long
// the files were that hold them. A match counts and writes in the order of pairs, so the number of
// the next one says it all.
#pragma once

#include <jansson.h>

#include "server/common/error.h"
#include "worker/match_cli/report.h"

enum { MATCH_STATE_MAX = 16 << 20, MATCH_STATE_FILES = 3 };

typedef struct MatchState {
    json_t *settings;                 // object of texts: what makes it this match and no other
    json_t *command;                  // array of texts: the command line
    int pairs;                        // counted; the next to play
    int score_count;                  // of pairings
    MatchScore *scores;               // new
    int64_t sizes[MATCH_STATE_FILES]; // of PGN, EPD and JSON
    int verdict;                      // SprtVerdict
} MatchState;

void match_state_release(MatchState *state);
// Durable when it returns.
bool match_state_save(const MatchState *state, const char *path, Error *err);
// False with `*missing`: there is no such file, which is fine for a new match.
bool match_state_load(MatchState *state, const char *path, bool *missing, Error *err);
bool match_state_parse(MatchState *state, const char *text, size_t size, Error *err);
// Whether `settings` are the state's; `err` names the first that differs and both values.
bool match_state_same(const MatchState *state, const json_t *settings, Error *err);
