// One game, from the engine processes to the finished record (game.h).
//
// match_game_play() gives each player of the game a process of the slot; a process whose engine
// does not play in this game quits. It plays the opening on the referee's board. It starts an
// engine that has no process, and waits off the clock until both engines have answered "ucinewgame"
// and "isready". Then the sides move in turn (play_ply) until the game ends. For each ply,
// ask_move() sends "position" with all moves and "go" in one write, and waits at most until the
// side has lost on time. The referee checks the move, measures its time and CPU time, charges the
// clock, and plays the move on its board. It then asks the rules of chess whether the game is over,
// and after them the adjudication. If an engine crashes, stalls, plays an illegal move or exceeds
// its time, it loses the game (or draws, if the other side cannot mate), its process is killed, and
// the next game starts a new one.
//
// The referee believes no engine. Only its own board decides which moves are legal and how a game
// ends, and only its own clock decides how long a move took; the scores that engines report matter
// to the adjudication alone. An engine gets no second attempt in a game. A loss on time remains a
// loss if the machine was busy; the record only says so (`overloaded`). No engine is told to
// ponder. A fault does not end the match, unless the engine has never worked in it.
#include "worker/match/game.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "worker/match/clock.h"
#include "worker/match/game_end.h"
#include "worker/match/output_check.h"
#include "worker/match/pv.h"

enum {
    END_PATIENCE_MS = 20,       // time for a process that closed its output to end, too
    LATE_MAX_NS = 100000000,    // longest wait for an answer that is already too late
    DELAY_NOTABLE_NS = 1000000, // a shorter delay is no overload
};

typedef struct GamePlay {
    SlotContext *slot;
    GameRecord *record;
    GameNotes *notes;
    Clock clocks[COLOR_NB];
    Adjudicator adjudicator;
    char last[COLOR_NB][UCI_WORD_MAX]; // each side's last bestmove, to recognise its echo
    bool keeps_info;
    Command command;
} GamePlay;

static EngineProcess *engine_of(const GamePlay *play, Color side) {
    return play->slot->engines[player_of(play->record, side)];
}

// ---- CPU time while the other side is to move ---------------------------------------------------

static int64_t take_rest_ns(GamePlay *play, Color side, int64_t age_ns) {
    int64_t rest_ns = load_rest_ns(engine_of(play, side), age_ns);
    play->record->rest_us[player_of(play->record, side)] += rest_ns / 1000;
    return rest_ns;
}

// `side` was not to move in the last ply. If it used CPU time meanwhile, it delayed the mover, and
// the machine did not.
static void end_rest(GamePlay *play, Color side, int64_t age_ns) {
    GameRecord *record = play->record;
    int64_t rest_us = take_rest_ns(play, side, age_ns) / 1000;
    if (record->game.plies == record->opening_plies)
        return;
    MoveRecord *last = &record->moves[record->game.plies - 1];
    if (last->delay_us > 0)
        last->delay_us = rest_us < last->delay_us ? last->delay_us - (int32_t)rest_us : 0;
}

// ---- faults -------------------------------------------------------------------------------------

// Kills the process of `side` at once. The next game starts a new one.
static void end_engine(GamePlay *play, Color side) {
    EngineProcess *engine = engine_of(play, side);
    engine_remark(engine, play->record->reason);
    engine_kill(engine);
}

static void blame(GamePlay *play, Color side, GameEndKind kind, const char *what) {
    EngineProcess *engine = engine_of(play, side);
    if (kind == GAME_END_CRASH && engine_is_up(engine))
        os_wait(&engine->process, END_PATIENCE_MS);
    end_by_fault(play->record, side, kind, what, os_limit_exceeded(&engine->process));
    end_engine(play, side);
}

// True if the engine lost on time because the machine was busy. If a late answer arrives, it would
// have been in time without the delay that the machine caused. If no answer arrives, the machine is
// to blame if its delay was at least half of the time.
static bool was_overloaded(GamePlay *play, Color side) {
    EngineProcess *engine = engine_of(play, side);
    int64_t allowed = clock_allowed_ns(&play->clocks[side]);
    int64_t elapsed = os_now_ns() - engine->go_ns;
    OsUsage usage = {0};
    EngineReply reply;
    load_flag_fell(&play->slot->load, engine, elapsed, &usage);
    int64_t delay = usage.delay_ns - take_rest_ns(play, color_flip(side), 0);
    int64_t away = (delay > 0 ? delay : 0) + load_stolen_ns(&play->slot->load);
    if (away < DELAY_NOTABLE_NS)
        return false;
    if (engine_go_late(engine, away < LATE_MAX_NS ? away : LATE_MAX_NS, &reply) == ENGINE_OK)
        return reply.elapsed_ns - away <= allowed;
    return away >= elapsed / 2;
}

static void lose_on_time(GamePlay *play, Color side) {
    play->record->flag_us = (os_now_ns() - engine_of(play, side)->go_ns) / 1000;
    play->record->overloaded = was_overloaded(play, side);
    end_by_flag(play->record, side, os_limit_exceeded(&engine_of(play, side)->process));
    end_engine(play, side);
}

static void end_by_status(GamePlay *play, Color side, EngineStatus status, bool on_clock) {
    if (status == ENGINE_CANCELLED || status == ENGINE_UNABLE)
        end_aborted(play->record);
    else if (status == ENGINE_GONE)
        blame(play, side, GAME_END_CRASH, " disconnects");
    else if (on_clock)
        lose_on_time(play, side);
    else
        blame(play, side, GAME_END_STALL, "'s connection stalls");
}

// ---- a ply --------------------------------------------------------------------------------------

// Asks for a move, and skips an echo: an engine may send the bestmove of its last search a second
// time, at any moment. The same word again, if it is illegal now, is such an echo. If no other
// answer follows, the echo was the answer.
static EngineStatus ask_move(GamePlay *play, Color side, EngineReply *reply, Move *move) {
    EngineProcess *engine = engine_of(play, side);
    const Position *pos = &play->record->game.now;
    int64_t allowed = clock_allowed_ns(&play->clocks[side]);
    size_t size = command_add_go(&play->command, play->clocks, side);
    end_rest(play, side, REST_AGE_NS);
    load_move_begins(&play->slot->load, engine);
    EngineStatus status = engine_go(engine, play->command.text, size, allowed, reply);
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

static int32_t whole_us(int64_t ns) {
    return ns < 0 ? -1 : ns / 1000 > INT32_MAX ? INT32_MAX : (int32_t)(ns / 1000);
}

static void keep_info(GamePlay *play, const EngineProcess *engine, MoveRecord *made) {
    if (!play->keeps_info || !engine->info_size || play->notes->infos.overflow)
        return;
    Str *infos = &play->notes->infos;
    made->info_at = (uint32_t)infos->size;
    str_add(infos, engine->info, engine->info_size);
    made->info_size = infos->overflow ? 0 : (uint32_t)engine->info_size;
}

static void check_output(GamePlay *play, Color side, Move move) {
    GameRecord *record = play->record;
    SlotContext *slot = play->slot;
    const EngineProcess *engine = engine_of(play, side);
    MoveOutput output = output_of(engine);
    char problem[PV_PROBLEM_MAX], text[PV_PROBLEM_MAX + 512];
    output_count(&record->game.now, &output, move, &record->said[player_of(record, side)]);
    if (!slot->spec->check_pvs || !slot->warn || !output.size ||
        !pv_problem(&record->game, output.line, output.size, !output.exact, move, problem))
        return;
    int shown = output.size < 400 ? (int)output.size : 400;
    snprintf(text, sizeof text, "%s from %s; %.*s", problem, engine->spec->name, shown,
             output.line);
    slot->warn(slot->owner, record, text);
}

static void record_move(GamePlay *play, Color side, Move move, const EngineReply *reply) {
    GameRecord *record = play->record;
    EngineProcess *engine = engine_of(play, side);
    char text[MOVE_TEXT_MAX];
    OsUsage usage;
    load_move_ended(&play->slot->load, engine, reply->elapsed_ns, &usage);
    MoveRecord *made = &record->moves[record->game.plies];
    *made = (MoveRecord){
        .move = move,
        .time_us = whole_us(reply->elapsed_ns),
        .score_cp = reply->info.score_cp,
        .depth = reply->info.depth,
        .seldepth = reply->info.seldepth,
        .nodes = reply->info.nodes,
        .engine_ms = reply->info.time_ms,
        .cpu_us = whole_us(usage.cpu_ns),
        .delay_us = whole_us(usage.delay_ns),
    };
    keep_info(play, engine, made);
    check_output(play, side, move);
    clock_charge(&play->clocks[side], reply->elapsed_ns);
    memcpy(play->last[side], reply->move, sizeof play->last[side]);
    command_add_move(&play->command, record->game.plies == 0,
                     move_to_uci(&record->game.now, move, text));
    game_play(&record->game, move);
    atomic_fetch_add_explicit(play->slot->plies, 1, memory_order_relaxed);
}

// Plays one move of the side to move. False if the game is over.
static bool play_ply(GamePlay *play) {
    GameRecord *record = play->record;
    Color side = record->game.now.side;
    EngineReply reply;
    Move move = MOVE_NONE;
    EngineStatus status = ask_move(play, side, &reply, &move);
    if (status != ENGINE_OK) {
        end_by_status(play, side, status, clock_is_timed(&play->clocks[side]));
        return false;
    }
    if (move == MOVE_NONE) {
        char what[64];
        snprintf(what, sizeof what, " makes an illegal move: %s",
                 *reply.move ? reply.move : "(empty)");
        blame(play, side, GAME_END_ILLEGAL, what);
        return false;
    }
    record_move(play, side, move, &reply);
    GameEnd end = game_end(&record->game);
    if (end != END_NONE) {
        end_by_rule(record, end);
        return false;
    }
    Decision decision = decide(&play->adjudicator, record, side, reply.info.score_cp);
    if (decision != DECISION_NONE)
        end_by_decision(record, decision, side);
    return decision == DECISION_NONE;
}

// ---- a game -------------------------------------------------------------------------------------

// Starts an engine that does not run, and announces the new game to it. False: the game is over
// before it began. Then *fatal is set if this engine has never worked in the match, or if no
// process can be started.
static bool engine_ready(GamePlay *play, Color side, bool *fatal, Error *err) {
    SlotContext *slot = play->slot;
    const MatchSpec *spec = slot->spec;
    int which = play->record->players[player_of(play->record, side)];
    EngineProcess *engine = engine_of(play, side);
    EngineStatus status = ENGINE_OK;
    if (engine_is_up(engine) && os_wait(&engine->process, 0))
        engine_kill(engine); // it ended after its last game, which is no fault in this game
    if (!engine_is_up(engine)) {
        engine->log = slot->log;
        engine->log.engine = which;
        status = engine_start(engine, &spec->engines[which], spec->chess960, spec->startup_ms,
                              slot->cancel_fd, err);
        *fatal = status == ENGINE_UNABLE || (status != ENGINE_OK && status != ENGINE_CANCELLED &&
                                             !atomic_load(&slot->has_started[which]));
        if (status == ENGINE_OK)
            atomic_store(&slot->has_started[which], true);
    }
    if (status == ENGINE_OK)
        status = engine_new_game(engine, spec->new_game_ms ? spec->new_game_ms : spec->ping_ms);
    if (status != ENGINE_OK)
        end_by_status(play, side, status, false);
    return status == ENGINE_OK;
}

static bool play_opening(GamePlay *play, const char *moves, Error *err) {
    GameRecord *record = play->record;
    char word[MOVE_TEXT_MAX], text[MOVE_TEXT_MAX];
    for (int used; sscanf(moves, " %15s%n", word, &used) == 1; moves += used) {
        Move move = move_from_uci(&record->game.now, word);
        if (move == MOVE_NONE || record->game.plies == GAME_PLIES_MAX)
            return error_set(err, 0, "bad_opening", "opening %d: %s cannot be played",
                             record->pair + 1, word);
        record->moves[record->game.plies] = (MoveRecord){.move = move, .score_cp = UCI_SCORE_NONE};
        command_add_move(&play->command, record->game.plies == 0,
                         move_to_uci(&record->game.now, move, text));
        game_play(&record->game, move);
    }
    record->opening_plies = record->game.plies;
    return true;
}

static bool set_up(GamePlay *play, Error *err) {
    GameRecord *record = play->record;
    const MatchSpec *spec = play->slot->spec;
    Opening opening = spec->opening ? spec->opening(spec->ctx, record->pair) : (Opening){0};
    Position start;
    Refusal problem;
    const char *fen = opening.fen ? opening.fen : POSITION_START_FEN;
    if (!position_from_fen(&start, fen, spec->chess960, &problem))
        return error_set(err, 0, "bad_opening", "opening %d: %s", record->pair + 1,
                         problem.message);
    for (Color side = WHITE; side <= BLACK; side++)
        clock_init(&play->clocks[side],
                   &spec->engines[record->players[player_of(record, side)]].limit);
    game_init(&record->game, &start);
    command_start(&play->command, &start);
    return play_opening(play, opening.moves ? opening.moves : "", err);
}

// An engine that takes the CPU from its opponent slows it down, and may win by that. It loses,
// however the game ended, unless it was at fault already.
static void judge_pondering(GamePlay *play) {
    GameRecord *record = play->record;
    int player = record_ponderer(record);
    bool timed = clock_is_timed(&play->clocks[WHITE]) && clock_is_timed(&play->clocks[BLACK]);
    if (!timed || player < 0 || record->culprit == player || record->kind == GAME_END_ABORTED)
        return;
    record->overloaded = false;
    blame(play, player == record->white ? WHITE : BLACK, GAME_END_PONDER,
          " computes in its opponent's time");
}

static void play_game(GamePlay *play) {
    GameEnd end = game_end(&play->record->game);
    for (Color side = WHITE; side <= BLACK; side++)
        load_rest_begins(engine_of(play, side));
    if (end != END_NONE)
        end_by_rule(play->record, end);
    else
        while (play_ply(play))
            ;
    end_rest(play, play->record->game.now.side, 0);
    take_rest_ns(play, color_flip(play->record->game.now.side), 0);
    if (play->slot->spec->no_pondering)
        judge_pondering(play);
}

static int64_t wall_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

// ---- the public functions -----------------------------------------------------------------------

static void start_record(SlotContext *slot, GameRecord *record, GameNotes *notes) {
    game_notes_clear(notes);
    record->culprit = -1;
    record->overloaded = false;
    record->rest_us[0] = record->rest_us[1] = 0;
    record->said[0] = record->said[1] = (Said){0};
    record->rule = END_NONE;
    record->reason[0] = 0;
    record->infos = NULL;
    record->fault_report = NULL;
    record->started_us = wall_us();
    for (int i = 0; i < 2; i++)
        tail_clear(&slot->engines[i]->protocol_log);
}

bool match_game_play(SlotContext *slot, GameRecord *record, GameNotes *notes, Error *err) {
    if (!slot->play)
        slot->play = xmalloc(sizeof *slot->play);
    GamePlay *play = slot->play;
    *play = (GamePlay){.slot = slot,
                       .record = record,
                       .notes = notes,
                       .adjudicator.rules = &slot->spec->adjudication,
                       .keeps_info = slot->spec->keep_info};
    bool fatal = false;
    slot_place_engines(slot, record);
    start_record(slot, record, notes);
    if (!set_up(play, err))
        return false;
    int64_t start_ns = os_now_ns();
    if (engine_ready(play, WHITE, &fatal, err) && engine_ready(play, BLACK, &fatal, err))
        play_game(play);
    record->lasted_us = (os_now_ns() - start_ns) / 1000;
    if (play->keeps_info)
        record->infos = notes->infos.data;
    if (record->culprit >= 0)
        record->fault_report = game_notes_fault(notes, slot->engines, start_ns);
    slot_quit_restarting(slot);
    return !fatal;
}

void match_game_play_on(SlotContext *slot, GameRecord *record, int plies, const atomic_bool *stop) {
    static const Adjudication none = {0};
    GamePlay *play = slot->play;
    int most = record->game.plies + plies;
    play->record = record;
    play->notes = NULL;
    play->keeps_info = false;
    play->adjudicator = (Adjudicator){.rules = &none};
    while (record->game.plies < most && !atomic_load(stop))
        if (!play_ply(play))
            return;
    if (atomic_load(stop))
        end_aborted(record);
    else
        end_open(record, plies);
}
