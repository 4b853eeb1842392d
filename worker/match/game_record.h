// The record of a game: its moves with their times and scores, its end, and the output of the
// engines. Functions derive other values from it: clocks, latencies, numbers of info lines.
#pragma once

#include "engine/rules/game.h"
#include "server/common/said.h"
#include "worker/uci/engine_spec.h"

typedef enum {
    GAME_END_RULE,         // mate, stalemate or a draw: see GameRecord.rule
    GAME_END_ADJUDICATION, // draw, resign, maxmoves
    GAME_END_TIME,         // a side had no time left
    GAME_END_ILLEGAL,      // illegal or unreadable move
    GAME_END_CRASH,        // process ended or closed its pipes
    GAME_END_STALL,        // no answer when one was due (isready, uciok, …)
    GAME_END_PONDER,       // a side computed in its opponent's time: see record_ponderer()
    GAME_END_ABORTED,      // the match was stopped; no result
} GameEndKind;

typedef struct MoveRecord {
    Move move;
    int32_t time_us;  // of the clock, as charged
    int32_t score_cp; // UCI_SCORE_NONE if none was given; mates are ±(UCI_SCORE_MATE - plies)
    int32_t depth, seldepth;
    int64_t nodes;
    int32_t engine_ms; // the time that the engine reports; -1: it reports none
    int32_t cpu_us;    // CPU time of the engine's threads during the move; -1: not measured
    int32_t delay_us;  // the time that its threads and the referee's waited for a CPU, minus the
                       // CPU time that its opponent used meanwhile; -1: not measured
    uint32_t info_at, info_size; // its last info line, in GameRecord.infos; size 0: not kept
} MoveRecord;
// The output before a fault: the last lines to ("> ") and from ("< ") both engines, each with the
// seconds since the game began, and the last lines that they wrote to standard error.
// Of players[0] and players[1]; NUL-terminated, never NULL.
typedef struct MatchFault {
    const char *protocol_log[2], *errors[2];
} MatchFault;

typedef struct GameRecord {
    int pair;       // from 0; counts pairings within rounds, see MatchSpec
    int index;      // which game of the pair: 0 or 1
    int players[2]; // numbers of the engines in MatchSpec; 0 and 1 if there are two
    int white;      // which of `players` (0 or 1) had White
    GameResult result;
    GameEndKind kind;
    GameEnd rule;       // for GAME_END_RULE
    int culprit;        // which of `players` is at fault for TIME, ILLEGAL, CRASH, STALL, PONDER;
                        // else -1
    bool overloaded;    // GAME_END_TIME: the engine lost on time only because the machine was
                        // busy with other programs; the game is lost nevertheless
    int64_t flag_us;    // GAME_END_TIME: how long the culprit thought about its last move
    int64_t rest_us[2]; // CPU time of each of `players` while its opponent was to move
    Said said[2];       // of each of `players`
    char reason[160];   // as printed: "White mates", "Black loses on time", …
    Game game;          // start position after the opening's FEN; opening moves are part of it
    int opening_plies;
    int64_t started_us; // wall clock, since the epoch
    int64_t lasted_us;
    const char *infos;                // text of the kept info lines; NULL without keep_info
    const MatchFault *fault_report;   // if culprit >= 0, during on_game and on_pair; else NULL
    MoveRecord moves[GAME_PLIES_MAX]; // moves[i] for game.moves[i]; empty for opening plies
} GameRecord;

// The engine that made game.moves[ply].
int record_mover(const GameRecord *record, int ply);
// The mover's clock after game.moves[ply], with the increment added, for every ply after the
// opening, into left_us[ply]; 0 if time is owed (MatchLimit.owed), -1 if it had no clock.
// `engines` are MatchSpec's.
void record_clocks(const GameRecord *record, const EngineSpec *engines, int64_t *left_us);
// CPU time that a player used while its opponent was to move, beyond what an engine needs to come
// to rest after its move: 1 ms for each of the opponent's moves. In microseconds.
enum { REST_FREE_US = 1000 };
int64_t record_rest_us(const GameRecord *record, int player);
// The player that computed in its opponent's time: its record_rest_us() is more than this share of
// the time that the opponent thought. If both are, the one with the greater excess. -1: neither.
enum { PONDER_PERCENT = 2 };
int record_ponderer(const GameRecord *record);
// The time on the clock minus the time that the engine reports; false if it reports none.
bool record_latency_us(const MoveRecord *move, int64_t *out);
// The number after `word` in the info line of the move; -1: none.
int64_t record_info_number(const GameRecord *record, int ply, const char *word);
// The moves after "pv" in the info line of the move. Returns their size; 0 if there are none.
size_t record_info_pv(const GameRecord *record, int ply, const char **pv);
