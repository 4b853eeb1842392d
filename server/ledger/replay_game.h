// One game of a batch, as its worker uploaded it: what must hold of it by the rules of chess and by
// the conditions of its test (replay.h).
#pragma once

#include "engine/rules/game.h"
#include "server/common/error.h"
#include "server/ledger/game_text.h"
#include "server/ledger/replay_facts.h"

typedef struct GameLine {
    const char *result, *end; // those of the JSON value
    const char *moves;        // that of the text or of the JSON value
    const json_t *opening;
    const GameText *text;  // borrowed
    int64_t pair, flag_ms; // flag_ms: -1 if the line has none
    bool new_is_white;
} GameLine;

typedef struct GameFound {
    GameResult result;
    int64_t moves;                            // of both sides
    double thought_least_ms, thought_most_ms; // by both sides
} GameFound;

// Sets a 422 `replay_mismatch` about game `number`, from 0. Returns false.
bool game_is_wrong(Error *err, int number, const char *what);
// `text` was taken out of the line before it became `json`; NULL: nothing was, and lists are not
// looked at. False: the value does not say who was White.
bool game_line_read(const json_t *json, const GameText *text, GameLine *line);
// Puts the opening on the board, then plays the moves, without a look at anything else.
bool game_set_up(Game *game, const GameLine *line, bool chess960, int number, Error *err);
bool game_play_text(Game *game, const char *text, int number, const char *what, Error *err);
// Whether `result` follows if the rules of chess end the game, or if a fault ends it while the side
// to move in game->now thinks. A side that computed in its opponent's time loses at any end. `end`
// is that of the line, and not "adjudication".
bool game_result_fits(const Game *game, const char *end, GameResult result);
GameResult game_result_read(const char *text);
// Replays the whole game, which has the opening and the colours of its pair.
bool game_replay(const GameLine *line, const ReplayFacts *facts, int number, GameFound *found,
                 Error *err);
