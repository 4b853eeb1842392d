// The state file of a match: the pairs that are counted, their scores, and the sizes of the output
// files at that moment. A match counts and writes pairs in order, so the number of the next pair is
// enough to resume it.
#pragma once

#include <jansson.h>

#include "server/common/error.h"
#include "worker/match_cli/report.h"

enum { MATCH_STATE_MAX = 16 << 20, MATCH_STATE_FILES = 3 };

typedef struct MatchState {
    json_t *settings;                 // object of strings that identify the match
    json_t *command;                  // array of strings: the command line
    int pairs;                        // that are counted; the number of the next pair to play
    int score_count;                  // number of pairings
    MatchScore *scores;               // new
    int64_t sizes[MATCH_STATE_FILES]; // of PGN, EPD and JSON
    int verdict;                      // SprtVerdict
} MatchState;

void match_state_release(MatchState *state);
// When it returns true, the state is on disk.
bool match_state_save(const MatchState *state, const char *path, Error *err);
// Returns false with `*missing` set if the file does not exist; a new match has no state file yet.
bool match_state_load(MatchState *state, const char *path, bool *missing, Error *err);
bool match_state_parse(MatchState *state, const char *text, size_t size, Error *err);
// Whether `settings` equal those of the state. If not, `err` names the first setting that differs,
// and both values.
bool match_state_same(const MatchState *state, const json_t *settings, Error *err);
