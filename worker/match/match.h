// The match runner: plays pairs of games between engines and judges every move itself. One thread a
// slot; a game's engines and its referee share their CPUs. The same code is `build/match` and the
// worker's core. It never trusts an engine: any fault loses that game and nothing else.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/rules/game.h"
#include "server/common/error.h"
#include "worker/os/limits.h"

typedef struct EngineOption {
    const char *name, *value;
} EngineOption;

// A limit may be combined as UCI allows. All zero: infinite thinking is refused.
typedef struct MatchLimit {
    int64_t base_ms, increment_ms; // clock; base_ms 0: no clock
    int moves_to_go;               // moves a period, 0: whole game
    int64_t move_ms;               // st=
    int64_t nodes;
    int depth;
    int64_t margin_ms; // forgiven before a flag falls
    int64_t stall_ms;  // longest wait for a move that no clock limits; 0: five minutes
} MatchLimit;

// Borrowed by the match for as long as it runs.
typedef struct EngineSpec {
    const char *name;
    const char *const *argv; // full command, NULL-terminated; a sandbox is simply a prefix of it
    const char *directory;   // to start in; NULL: the runner's own
    const EngineOption *options;
    int option_count;
    const char *init;       // more lines for it after its options, each with a newline; NULL: none
    int threads;            // CPUs the engine needs
    bool restart;           // a process a game
    const OsLimits *limits; // of the process and all it starts; NULL: none
    MatchLimit limit;
} EngineSpec;

typedef struct Opening {
    const char *fen;   // NULL: start position
    const char *moves; // UCI moves from there, separated by blanks; NULL or "" for none
} Opening;

typedef struct Adjudication {
    int draw_move, draw_count, draw_score; // draw_count 0: off; cp
    int resign_count, resign_score;        // resign_count 0: off; cp
    bool resign_two_sided;
    int max_moves; // full moves since the opening; 0: off
} Adjudication;

typedef enum {
    GAME_END_RULE,         // mate, stalemate, draws: GameRecord.rule tells
    GAME_END_ADJUDICATION, // draw, resign, maxmoves
    GAME_END_TIME,         // flag fell
    GAME_END_ILLEGAL,      // illegal or unreadable move
    GAME_END_CRASH,        // process ended or closed its pipes
    GAME_END_STALL,        // said nothing when it had to (isready, uciok, …)
    GAME_END_ABORTED,      // the match was stopped; no result
} GameEndKind;

typedef struct MoveRecord {
    Move move;
    int32_t time_us;  // of the clock, as charged
    int32_t score_cp; // SCORE_NONE if none was given; mates are ±(SCORE_MATE - plies)
    int32_t depth, seldepth;
    int64_t nodes;
    int32_t engine_ms; // what the engine says it took; -1: it does not say
    int32_t cpu_us;    // CPU time of the engine's threads during the move; -1: not measured
    int32_t delay_us;  // how long its threads and the referee's were ready and got no CPU; -1: same
    uint32_t info_at, info_size; // its last info line, in GameRecord.infos; size 0: not kept
} MoveRecord;
// Centipawns beyond SCORE_CP_MAX are cut to it, so that a larger score is a mate.
enum { SCORE_NONE = INT32_MIN, SCORE_MATE = 1000000, SCORE_CP_MAX = 900000 };
static inline bool score_is_mate(int32_t score) {
    return score > SCORE_CP_MAX || (score < -SCORE_CP_MAX && score != SCORE_NONE);
}

// What was said before an engine failed: the last lines of both conversations ("> " to the engine,
// "< " from it, each with the seconds since the game began) and the tails of standard error.
typedef struct MatchFault {
    const char *protocol_log[2],
        *errors[2]; // of players[0] and players[1]; NUL-terminated, never NULL
} MatchFault;

typedef struct GameRecord {
    int pair;       // from 0; counts pairings within rounds, see MatchSpec
    int index;      // which game of the pair: 0 or 1
    int players[2]; // numbers of the engines in MatchSpec; 0 and 1 where there are two
    int white;      // which of `players` (0 or 1) had White
    GameResult result;
    GameEndKind kind;
    GameEnd rule;    // for GAME_END_RULE
    int culprit;     // which of `players` is at fault for TIME, ILLEGAL, CRASH, STALL; else -1
    bool overloaded; // GAME_END_TIME: without the time that the machine was busy elsewhere the flag
                     // would not have fallen; it is a loss all the same
    char reason[160]; // as printed: "White mates", "Black loses on time", …
    Game game;        // start position after the opening's FEN; opening moves are part of it
    int opening_plies;
    int64_t started_us; // wall clock, since the epoch
    int64_t lasted_us;
    const char *infos;                // text of the kept info lines; NULL without keep_info
    const MatchFault *fault_report;   // where culprit >= 0, during on_game and on_pair; else NULL
    MoveRecord moves[GAME_PLIES_MAX]; // moves[i] for game.moves[i]; empty for opening plies
} GameRecord;

typedef struct MatchPairing {
    int first, second; // engines; `first` has White in the first game
} MatchPairing;

typedef enum { LINE_TO_ENGINE, LINE_FROM_ENGINE, LINE_ERROR } MatchLineKind;
typedef struct MatchLine {
    MatchLineKind kind;
    int slot, engine;
    int64_t time_us;  // since the match began
    const char *text; // without its newline
    size_t size;
    bool open; // LINE_ERROR: the newline has not come; what follows belongs to the same line
} MatchLine;

typedef struct Match Match;

// Pair p is pairing p % pairing_count of round p / pairing_count, whose opening it plays.
typedef struct MatchSpec {
    const EngineSpec *engines; // 0: new (or first), 1: base
    int engine_count;
    const MatchPairing *pairings; // of one round; NULL: engines 0 and 1
    int pairing_count;            // 0 with NULL
    int pair_first;               // number of the first pair, for resuming
    int pair_count;
    int games_per_pair; // 2, or 1: colours then change from round to round
    bool no_swap;       // a pairing's first engine always has White
    // The opening of a pair; called from slot threads, strings must outlive the match.
    Opening (*opening)(void *ctx, int pair);
    int slots;
    bool pin; // referee and engines of a slot on its own CPUs, where enough are free
    bool chess960;
    Adjudication adjudication;
    int startup_ms, ping_ms; // waits outside the clock
    int new_game_ms;         // the one for readyok after ucinewgame; 0: ping_ms
    int rest_ms;             // pause of a slot between two games
    bool keep_info;          // fill GameRecord.infos
    bool check_pvs;          // report PVs that cannot be right to on_warning
    // All called under one lock, never concurrently; any may be NULL. Records are borrowed for the
    // call; with one game a pair games[1] is not to be read.
    void (*on_start)(void *ctx, const GameRecord *game);             // pair, index, players, white
    void (*on_game)(void *ctx, const GameRecord *game);              // in order of completion
    void (*on_pair)(void *ctx, int pair, const GameRecord games[2]); // in pair order, both ended
    void (*on_warning)(void *ctx, const GameRecord *game, const char *text);
    // An engine that has never worked (culprit, fault reports): match_run is about to return false.
    void (*on_failure)(void *ctx, const GameRecord *game);
    // Every line of every conversation; from slot threads, several at a time. NULL: no log.
    void (*on_line)(void *ctx, const MatchLine *line);
    void *ctx;
} MatchSpec;

// Plays the whole match and returns when no engine process is left. False: it could not start (an
// engine that never answered `uci`, no such program, an opening that is none); games played until
// then were reported.
bool match_run(Match *match, Error *err);
// New; copies the struct, borrows what it points to.
Match *match_new(const MatchSpec *spec);
void match_free(Match *match);
// Async-signal-safe, from any thread: finish = start no further pair but end those running;
// abort = kill all engines at once, running games are reported as GAME_END_ABORTED or not at all.
void match_finish(Match *match);
void match_abort(Match *match);
// The first pair of which no game was started; from any thread, callbacks too.
int match_next_pair(const Match *match);
// Plies played so far over all slots; from any thread.
uint64_t match_plies(const Match *match);
