// See match_game.h.
//
// The text of "position" grows by one move a ply and is sent with "go" behind it in one write; the
// answer is one read. In between the referee checks the move, which costs less than a microsecond.
#include "match_game.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../engine/rules/notation.h"
#include "match_adjudicate.h"

enum {
    TEXT_MAX = FEN_MAX + 64 + GAME_PLIES_MAX * 6 + 256,
    STALL_DEFAULT_MS = 5 * 60 * 1000,
    QUIT_PATIENCE_MS = 500,
};

typedef struct Clock {
    int64_t left_ns;
    int moves; // made
} Clock;

typedef struct Play {
    MatchTable *table;
    GameRecord *record;
    Clock clocks[COLOR_NB];
    Adjudicator adjudicator;
    char last[COLOR_NB][UCI_WORD_MAX]; // each side's last bestmove, to know its echo
    size_t position_size;
    char text[TEXT_MAX]; // "position … moves …", then "\ngo …\n" behind it
} Play;

static const char *const color_name[COLOR_NB] = {"White", "Black"};

// Which of the two players has `side`.
static int player_of(const GameRecord *record, Color side) {
    return side == WHITE ? record->white : 1 - record->white;
}

static GameResult win_of(Color side) {
    return side == WHITE ? RESULT_WHITE_WINS : RESULT_BLACK_WINS;
}

static const MatchLimit *limit_of(const Play *play, Color side) {
    const GameRecord *record = play->record;
    return &play->table->spec->engines[record->players[player_of(record, side)]].limit;
}

// ---- how a game ends ----------------------------------------------------------------------------

static void end_game(GameRecord *record, GameEndKind kind, GameResult result) {
    record->kind = kind;
    record->result = result;
}

static void end_aborted(GameRecord *record) {
    end_game(record, GAME_END_ABORTED, RESULT_NONE);
    snprintf(record->reason, sizeof record->reason, "The match was stopped");
}

static void end_by_rule(GameRecord *record, GameEnd end) {
    static const char *const draws[] = {
        [END_STALEMATE] = "Draw by stalemate",
        [END_THREEFOLD] = "Draw by 3-fold repetition",
        [END_FIFTY_MOVES] = "Draw by fifty moves rule",
        [END_INSUFFICIENT_MATERIAL] = "Draw by insufficient mating material",
        [END_TOO_LONG] = "Draw by length of the game",
    };
    record->rule = end;
    end_game(record, GAME_END_RULE, game_result(&record->game, end));
    if (end == END_CHECKMATE)
        snprintf(record->reason, sizeof record->reason, "%s mates",
                 color_name[color_flip(record->game.now.side)]);
    else
        snprintf(record->reason, sizeof record->reason, "%s", draws[end]);
}

static void end_by_verdict(GameRecord *record, Verdict verdict, Color mover) {
    if (verdict == VERDICT_RESIGNS) {
        end_game(record, GAME_END_ADJUDICATION, win_of(color_flip(mover)));
        snprintf(record->reason, sizeof record->reason, "%s wins by adjudication",
                 color_name[color_flip(mover)]);
        return;
    }
    end_game(record, GAME_END_ADJUDICATION, RESULT_DRAW);
    snprintf(record->reason, sizeof record->reason, "Draw by adjudication%s",
             verdict == VERDICT_TOO_LONG ? ": maximum length" : "");
}

// The engine playing `side` is to blame. Its process goes at once: the next game gets a new one.
static void end_by_fault(Play *play, Color side, GameEndKind kind, const char *what) {
    GameRecord *record = play->record;
    record->culprit = player_of(record, side);
    end_game(record, kind, win_of(color_flip(side)));
    snprintf(record->reason, sizeof record->reason, "%s%s", color_name[side], what);
    engine_kill(play->table->seats[record->culprit]);
}

// FIDE 6.9: nobody wins on time who could not mate by any series of moves.
static void end_by_flag(Play *play, Color side) {
    GameRecord *record = play->record;
    bool draw = !position_can_win(&record->game.now, color_flip(side));
    end_by_fault(play, side, GAME_END_TIME, " loses on time");
    if (!draw)
        return;
    record->result = RESULT_DRAW;
    snprintf(record->reason, sizeof record->reason, "Draw: %s ran out of time, %s cannot mate",
             color_name[side], color_name[color_flip(side)]);
}

static void end_by_status(Play *play, Color side, EngineStatus status, bool on_clock) {
    if (status == ENGINE_CANCELLED)
        end_aborted(play->record);
    else if (status == ENGINE_GONE)
        end_by_fault(play, side, GAME_END_CRASH, " disconnects");
    else if (on_clock)
        end_by_flag(play, side);
    else
        end_by_fault(play, side, GAME_END_STALL, "'s connection stalls");
}

static void end_by_illegal_move(Play *play, Color side, const char *move) {
    char what[64];
    snprintf(what, sizeof what, " makes an illegal move: %s", *move ? move : "(empty)");
    end_by_fault(play, side, GAME_END_ILLEGAL, what);
}

// ---- clocks -------------------------------------------------------------------------------------

static bool has_clock(const MatchLimit *limit) {
    return limit->base_ms > 0 || limit->increment_ms > 0;
}

static bool is_timed(const MatchLimit *limit) {
    return has_clock(limit) || limit->move_ms > 0;
}

static int64_t allowed_ns(const Clock *clock, const MatchLimit *limit) {
    int64_t stall_ms = limit->stall_ms ? limit->stall_ms : STALL_DEFAULT_MS;
    int64_t allowed = is_timed(limit) ? INT64_MAX / 4 : stall_ms * 1000000;
    if (has_clock(limit) && clock->left_ns < allowed)
        allowed = clock->left_ns;
    if (limit->move_ms > 0 && limit->move_ms * 1000000 < allowed)
        allowed = limit->move_ms * 1000000;
    return allowed + (is_timed(limit) ? limit->margin_ms * 1000000 : 0);
}

// What the margin forgave is not owed.
static void clock_charge(Clock *clock, const MatchLimit *limit, int64_t elapsed_ns) {
    clock->moves++;
    clock->left_ns -= elapsed_ns;
    if (clock->left_ns < 0)
        clock->left_ns = 0;
    clock->left_ns += limit->increment_ms * 1000000;
    if (limit->moves_to_go && clock->moves % limit->moves_to_go == 0)
        clock->left_ns += limit->base_ms * 1000000;
}

// ---- what is sent -------------------------------------------------------------------------------

static void text_add_move(Play *play, const char *move) {
    size_t length = strlen(move);
    bool first = play->record->game.plies == 0;
    if (first) {
        memcpy(play->text + play->position_size, " moves", 6);
        play->position_size += 6;
    }
    play->text[play->position_size++] = ' ';
    memcpy(play->text + play->position_size, move, length);
    play->position_size += length;
}

static void text_start(Play *play) {
    char fen[FEN_MAX];
    position_to_fen(&play->record->game.start, fen);
    bool usual = !play->record->game.start.chess960 && strcmp(fen, POSITION_START_FEN) == 0;
    play->position_size = (size_t)snprintf(play->text, sizeof play->text, "position %s%s",
                                           usual ? "startpos" : "fen ", usual ? "" : fen);
}

// Appends " name value" to text[at…]; the room for all of them is part of TEXT_MAX.
static size_t add_number(char *text, size_t at, const char *name, int64_t value) {
    char digits[20];
    size_t count = 0, length = strlen(name);
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    text[at++] = ' ';
    memcpy(text + at, name, length);
    at += length;
    text[at++] = ' ';
    while (count)
        text[at++] = digits[--count];
    return at;
}

// Both clocks, then both increments; a side without a clock is left out.
static size_t add_clocks(const Play *play, char *text, size_t at) {
    for (Color side = WHITE; side <= BLACK; side++) {
        int64_t left_ms = play->clocks[side].left_ns / 1000000;
        if (has_clock(limit_of(play, side)))
            at = add_number(text, at, side == WHITE ? "wtime" : "btime", left_ms > 0 ? left_ms : 1);
    }
    for (Color side = WHITE; side <= BLACK; side++) {
        int64_t increment_ms = limit_of(play, side)->increment_ms;
        if (increment_ms)
            at = add_number(text, at, side == WHITE ? "winc" : "binc", increment_ms);
    }
    return at;
}

// "\ngo …\n" behind the position; returns the size of the whole.
static size_t text_add_go(Play *play, Color side) {
    const MatchLimit *limit = limit_of(play, side);
    size_t at = play->position_size;
    memcpy(play->text + at, "\ngo", 4);
    at += 3;
    if (has_clock(limit)) {
        at = add_clocks(play, play->text, at);
        if (limit->moves_to_go)
            at = add_number(play->text, at, "movestogo",
                            limit->moves_to_go - play->clocks[side].moves % limit->moves_to_go);
    }
    if (limit->nodes)
        at = add_number(play->text, at, "nodes", limit->nodes);
    if (limit->depth)
        at = add_number(play->text, at, "depth", limit->depth);
    if (limit->move_ms)
        at = add_number(play->text, at, "movetime", limit->move_ms);
    play->text[at++] = '\n';
    return at;
}

// ---- a ply --------------------------------------------------------------------------------------

// Asks until a move comes that can have been meant for this position. A second bestmove of the
// last search may come at any time: the same word again, and illegal now, is such an echo. Where
// nothing follows it, it was the answer after all.
static EngineStatus ask_move(Play *play, Color side, EngineReply *reply, Move *move) {
    EngineProcess *engine = play->table->seats[player_of(play->record, side)];
    const Position *pos = &play->record->game.now;
    int64_t allowed = allowed_ns(&play->clocks[side], limit_of(play, side));
    size_t size = text_add_go(play, side);
    EngineStatus status = engine_go(engine, play->text, size, allowed, reply);
    bool echo = false;
    while (status == ENGINE_OK) {
        *move = move_from_uci(pos, reply->move);
        if (*move != MOVE_NONE || !reply->move[0] || strcmp(reply->move, play->last[side]) != 0)
            break;
        echo = true;
        status = engine_go_on(engine, reply);
    }
    return echo && status == ENGINE_TIMEOUT ? ENGINE_OK : status;
}

static void record_move(Play *play, Color side, Move move, const EngineReply *reply) {
    GameRecord *record = play->record;
    char text[MOVE_TEXT_MAX];
    int64_t time_us = reply->elapsed_ns / 1000;
    record->moves[record->game.plies] = (MoveRecord){
        .move = move,
        .time_us = time_us > INT32_MAX ? INT32_MAX : (int32_t)time_us,
        .score_cp = reply->info.score_cp,
        .depth = reply->info.depth,
        .nodes = reply->info.nodes,
        .engine_ms = -1,
        .cpu_us = -1,
        .delay_us = -1,
    };
    clock_charge(&play->clocks[side], limit_of(play, side), reply->elapsed_ns);
    memcpy(play->last[side], reply->move, sizeof play->last[side]);
    text_add_move(play, move_to_uci(&record->game.now, move, text));
    game_play(&record->game, move);
    atomic_fetch_add_explicit(play->table->plies, 1, memory_order_relaxed);
}

// One move of the side to move; false when the game is over.
static bool play_ply(Play *play) {
    GameRecord *record = play->record;
    Color side = record->game.now.side;
    EngineReply reply;
    Move move = MOVE_NONE;
    EngineStatus status = ask_move(play, side, &reply, &move);
    if (status != ENGINE_OK) {
        end_by_status(play, side, status, is_timed(limit_of(play, side)));
        return false;
    }
    if (move == MOVE_NONE) {
        end_by_illegal_move(play, side, reply.move);
        return false;
    }
    record_move(play, side, move, &reply);
    GameEnd end = game_end(&record->game);
    if (end != END_NONE) {
        end_by_rule(record, end);
        return false;
    }
    Verdict verdict = adjudicate(&play->adjudicator, &record->game.now, side, reply.info.score_cp,
                                 record->game.plies - record->opening_plies);
    if (verdict != VERDICT_NONE)
        end_by_verdict(record, verdict, side);
    return verdict == VERDICT_NONE;
}

// ---- a game -------------------------------------------------------------------------------------

// Starts an engine that is gone or not there yet, and tells it of the new game. False: the game is
// over before it began; *fatal where that was an engine that has never worked.
static bool engine_ready(Play *play, Color side, bool *fatal, Error *err) {
    MatchTable *table = play->table;
    const MatchSpec *spec = table->spec;
    int seat = player_of(play->record, side), which = play->record->players[seat];
    EngineProcess *engine = table->seats[seat];
    EngineStatus status = ENGINE_OK;
    if (engine_is_up(engine) && os_wait(&engine->process, 0))
        engine_kill(engine); // ended by itself after its last game: no fault of this one
    if (!engine_is_up(engine)) {
        status = engine_start(engine, &spec->engines[which], spec->chess960, spec->startup_ms,
                              table->cancel_fd, err);
        *fatal = status != ENGINE_OK && status != ENGINE_CANCELLED &&
                 !atomic_load(&table->proven[which]);
        if (status == ENGINE_OK)
            atomic_store(&table->proven[which], true);
    }
    if (status == ENGINE_OK)
        status = engine_new_game(engine, spec->new_game_ms ? spec->new_game_ms : spec->ping_ms);
    if (status != ENGINE_OK)
        end_by_status(play, side, status, false);
    return status == ENGINE_OK;
}

static bool play_opening(Play *play, const char *moves, Error *err) {
    GameRecord *record = play->record;
    char word[MOVE_TEXT_MAX], text[MOVE_TEXT_MAX];
    for (int used; sscanf(moves, " %15s%n", word, &used) == 1; moves += used) {
        Move move = move_from_uci(&record->game.now, word);
        if (move == MOVE_NONE || record->game.plies == GAME_PLIES_MAX)
            return error_set(err, 0, "bad_opening", "opening %d: %s cannot be played",
                             record->pair + 1, word);
        record->moves[record->game.plies] = (MoveRecord){.move = move, .score_cp = SCORE_NONE};
        text_add_move(play, move_to_uci(&record->game.now, move, text));
        game_play(&record->game, move);
    }
    record->opening_plies = record->game.plies;
    return true;
}

static bool set_up(Play *play, Error *err) {
    GameRecord *record = play->record;
    const MatchSpec *spec = play->table->spec;
    Opening opening = spec->opening ? spec->opening(spec->ctx, record->pair) : (Opening){0};
    Position start;
    RulesError problem;
    const char *fen = opening.fen ? opening.fen : POSITION_START_FEN;
    if (!position_from_fen(&start, fen, spec->chess960, &problem))
        return error_set(err, 0, "bad_opening", "opening %d: %s", record->pair + 1,
                         problem.message);
    for (Color side = WHITE; side <= BLACK; side++) {
        const MatchLimit *limit = limit_of(play, side);
        play->clocks[side].left_ns = (limit->base_ms + limit->increment_ms) * 1000000;
    }
    game_init(&record->game, &start);
    text_start(play);
    return play_opening(play, opening.moves ? opening.moves : "", err);
}

static void play_game(Play *play) {
    GameEnd end = game_end(&play->record->game);
    if (end != END_NONE)
        end_by_rule(play->record, end);
    else
        while (play_ply(play))
            ;
}

static int64_t wall_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

// Processes stay from game to game; one that this game has no use for quits.
static void take_seats(MatchTable *table, const GameRecord *record) {
    EngineProcess **seats = table->seats;
    const EngineSpec *first = &table->spec->engines[record->players[0]];
    const EngineSpec *second = &table->spec->engines[record->players[1]];
    if (!seats[0]) {
        seats[0] = &table->processes[0];
        seats[1] = &table->processes[1];
    }
    if (seats[0]->spec == second || seats[1]->spec == first) {
        EngineProcess *other = seats[0];
        seats[0] = seats[1];
        seats[1] = other;
    }
    if (seats[0]->spec != first)
        engine_quit(seats[0], QUIT_PATIENCE_MS);
    if (seats[1]->spec != second)
        engine_quit(seats[1], QUIT_PATIENCE_MS);
}

bool match_game_play(MatchTable *table, GameRecord *record, Error *err) {
    Play play = {.table = table, .record = record, .adjudicator.rules = &table->spec->adjudication};
    bool fatal = false;
    record->culprit = -1;
    record->overloaded = false;
    record->rule = END_NONE;
    record->reason[0] = 0;
    take_seats(table, record);
    if (!set_up(&play, err))
        return false;
    int64_t start_ns = os_now_ns();
    record->started_us = wall_us();
    if (engine_ready(&play, WHITE, &fatal, err) && engine_ready(&play, BLACK, &fatal, err))
        play_game(&play);
    record->lasted_us = (os_now_ns() - start_ns) / 1000;
    for (int i = 0; i < 2; i++)
        if (table->spec->engines[record->players[i]].restart)
            engine_quit(table->seats[i], QUIT_PATIENCE_MS);
    return !fatal;
}

void match_table_quit(MatchTable *table, int patience_ms) {
    for (int i = 0; i < 2; i++)
        engine_quit(&table->processes[i], patience_ms);
}
