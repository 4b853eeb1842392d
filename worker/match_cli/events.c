// The callbacks of a match: they print, count and write games (match_run.h).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/common/hash.h"
#include "worker/match/game_record.h"
#include "worker/match_cli/match_run.h"
#include "worker/os/process.h"

enum { REPORT_MAX = 1 << 20, GAME_TEXT_MAX = 16 << 20, SAVE_EVERY_NS = 1000000000 };

static const char *name_of(const MatchRun *s, int engine) {
    return s->engines[engine].name;
}

static const char *white_of(const MatchRun *s, const GameRecord *game) {
    return name_of(s, game->players[game->white]);
}

static const char *black_of(const MatchRun *s, const GameRecord *game) {
    return name_of(s, game->players[1 - game->white]);
}

static int game_number(const MatchRun *s, const GameRecord *game) {
    return game->pair * s->args->games + game->index + 1;
}

static JsonContext json_context(const MatchRun *s) {
    return (JsonContext){&s->title, s->pairing_count, s->args->games};
}

// Ends the match at once. The first reason is kept.
static void stop(MatchRun *s, const Error *why) {
    if (!s->stopped)
        s->error = *why;
    s->stopped = true;
    match_abort(s->match);
}

// ---- games --------------------------------------------------------------------------------------

void match_run_on_start(void *ctx, const GameRecord *game) {
    MatchRun *s = ctx;
    printf("Started game %d of %d (%s vs %s)\n", game_number(s, game),
           s->pair_count * s->args->games, white_of(s, game), black_of(s, game));
    match_log_say(&s->log, LOG_LEVEL_INFO, "started game %d: %s vs %s", game_number(s, game),
                  white_of(s, game), black_of(s, game));
}

static void print_latencies(const MatchRun *s, const GameRecord *game) {
    for (int ply = game->opening_plies; ply < game->game.plies; ply++) {
        const MoveRecord *move = &game->moves[ply];
        int64_t latency_us;
        if (record_latency_us(move, &latency_us))
            printf("Engine %s latency: %" PRId64 "ms (elapsed: %d, reported: %d)\n",
                   name_of(s, record_mover(game, ply)), latency_us / 1000, move->time_us / 1000,
                   move->engine_ms);
    }
}

static void print_live(MatchRun *s, const GameOutcome *outcome) {
    MatchScore *live = &s->live[outcome->pair % s->pairing_count];
    match_score_add_game(live, outcome);
    s->live_games++;
    int interval = s->args->score_interval;
    if (!s->args->cutechess || !interval || s->live_games % interval)
        return;
    scope(str_release) Str text;
    str_init(&text, REPORT_MAX);
    match_report_score(&text, &s->title, live);
    fputs(text.data, stdout);
}

void match_run_on_game(void *ctx, const GameRecord *game) {
    MatchRun *s = ctx;
    if (s->args->show_latency)
        print_latencies(s, game);
    printf("Finished game %d (%s vs %s): %s {%s}\n", game_number(s, game), white_of(s, game),
           black_of(s, game), game_result_text(game->result), game->reason);
    match_log_say(&s->log, LOG_LEVEL_INFO, "finished game %d: %s {%s}%s", game_number(s, game),
                  game_result_text(game->result), game->reason,
                  game->overloaded ? " while the machine was busy elsewhere" : "");
    if (game->kind == GAME_END_ABORTED)
        return;
    if (game->overloaded)
        printf("The clock of game %d ran out while the machine was busy elsewhere\n",
               game_number(s, game));
    timing_add_game(&s->timing, game);
    GameOutcome outcome = game_outcome(game);
    print_live(s, &outcome);
}

void match_run_on_warning(void *ctx, const GameRecord *game, const char *text) {
    MatchRun *s = ctx;
    fprintf(stderr, "Warning; game %d (%s vs %s): %s\n", game_number(s, game), white_of(s, game),
            black_of(s, game), text);
    match_log_say(&s->log, LOG_LEVEL_WARN, "game %d: %s", game_number(s, game), text);
    Error why;
    if (!s->args->strict)
        return;
    error_set(&why, 0, "strict", "-strict: game %d: %s", game_number(s, game), text);
    stop(s, &why);
}

// The same games whenever the match is played again with its seed.
bool match_run_plays_on(void *ctx, const GameRecord *game) {
    const MatchRun *s = ctx;
    int number = game_number(s, game);
    return table_hash(s->args->book.seed, &number, sizeof number) % 100 <
           (uint64_t)s->args->play_on;
}

void match_run_on_played_on(void *ctx, const PlayedOn *played) {
    MatchRun *s = ctx;
    const GameRecord *game = played->game;
    rule_audit_add(&s->audit, played);
    printf("Played on game %d (%s vs %s): %s by adjudication, then %s {%s}\n", game_number(s, game),
           white_of(s, game), black_of(s, game), game_result_text(played->ruled),
           game_result_text(game->result), game->reason);
}

void match_run_on_line(void *ctx, const MatchLine *line) {
    match_log_line(&((MatchRun *)ctx)->log, line);
}

// ---- pairs --------------------------------------------------------------------------------------

static void add_text(const MatchRun *s, int file, const GameRecord *game, Str *out) {
    const MatchArgs *args = s->args;
    PgnHeader header = {.event = args->event,
                        .site = args->site,
                        .engines = s->engines,
                        .controls = s->controls,
                        .pairing_count = s->pairing_count,
                        .chess960 = args->book.chess960,
                        .format = args->pgn};
    JsonContext json = json_context(s);
    if (file == FILE_PGN && args->pgn_file)
        pgn_out_game(out, &header, game);
    else if (file == FILE_EPD && args->epd_file)
        epd_out_game(out, game);
    else if (file == FILE_JSON && args->json_file)
        match_json_game(out, &json, game);
}

// Counts a game and writes it to the files.
static bool count_game(MatchRun *s, const GameRecord *game, GameOutcome *outcome) {
    Error err = {0};
    *outcome = game_outcome(game);
    match_score_add_game(&s->scores[game->pair % s->pairing_count], outcome);
    for (int i = 0; i < FILE_COUNT && !s->write_failed; i++) {
        scope(str_release) Str text;
        str_init(&text, GAME_TEXT_MAX);
        add_text(s, i, game, &text);
        s->write_failed = !out_file_write(&s->files[i], text.data, text.size, &err);
    }
    if (s->write_failed)
        stop(s, &err);
    return !s->write_failed;
}

static void write_json(MatchRun *s, const char *ending) {
    JsonContext context = json_context(s);
    Error err;
    if (!s->args->json_file || s->stopped)
        return;
    scope(str_release) Str line;
    str_init(&line, REPORT_MAX);
    JsonEnding end = {ending, &s->timing};
    match_json_report(&line, &context, s->scores, s->pairing_count, s->verdict,
                      ending ? &end : NULL);
    if (!out_file_write(&s->files[FILE_JSON], line.data, line.size, &err))
        stop(s, &err);
}

static void print_report(MatchRun *s) {
    scope(str_release) Str text;
    str_init(&text, REPORT_MAX);
    match_report(&text, &s->title, s->scores, s->pairing_count);
    fputs(text.data, stdout);
}

bool match_run_save(MatchRun *s, Error *err) {
    MatchState *state = &s->state;
    for (int i = 0; i < FILE_COUNT; i++) {
        if (!out_file_sync(&s->files[i], err))
            return false;
        state->sizes[i] = s->files[i].size;
    }
    state->pairs = s->pairs;
    state->verdict = (int)s->verdict;
    state->scores = s->scores;
    state->score_count = s->pairing_count;
    bool saved = match_state_save(state, s->args->state_file, err);
    state->scores = NULL;
    s->saved_ns = os_now_ns();
    s->saved_games = s->pairs * s->args->games;
    return saved;
}

static void save_when_due(MatchRun *s) {
    int interval = s->args->save_interval, games = s->pairs * s->args->games - s->saved_games;
    bool due = interval ? games >= interval : os_now_ns() - s->saved_ns >= SAVE_EVERY_NS;
    Error err;
    if (s->args->state_file && due && !match_run_save(s, &err))
        stop(s, &err);
}

static void judge(MatchRun *s) {
    const SprtBounds *bounds = &s->args->sprt;
    double llr = match_score_llr(&s->scores[0], bounds);
    if (llr >= sprt_upper(bounds))
        s->verdict = SPRT_ACCEPTED;
    else if (llr <= sprt_lower(bounds))
        s->verdict = SPRT_REJECTED;
    if (s->verdict != SPRT_OPEN)
        match_abort(s->match);
}

void match_run_on_pair(void *ctx, int pair, const GameRecord games[2]) {
    MatchRun *s = ctx;
    const MatchArgs *args = s->args;
    GameOutcome outcomes[2];
    if (s->verdict != SPRT_OPEN || s->stopped) {
        for (int i = 0; i < args->games; i++)
            match_run_on_rest(s, &games[i]);
        return;
    }
    for (int i = 0; i < args->games; i++)
        if (!count_game(s, &games[i], &outcomes[i]))
            return;
    if (args->games == 2)
        match_score_add_pair(&s->scores[pair % s->pairing_count], outcomes);
    s->pairs = pair + 1;
    if (args->has_sprt)
        judge(s);
    if (args->rating_interval && s->pairs % args->rating_interval == 0 &&
        s->pairs < s->pair_count && s->verdict == SPRT_OPEN) {
        print_report(s);
        write_json(s, NULL);
    }
    save_when_due(s);
}

// ---- the end ------------------------------------------------------------------------------------

// With a state file these games are not counted: they are played again.
void match_run_on_rest(void *ctx, const GameRecord *game) {
    MatchRun *s = ctx;
    GameOutcome both[2] = {s->last};
    if (s->args->state_file || s->verdict != SPRT_OPEN || s->write_failed) {
        s->dropped++;
        return;
    }
    if (count_game(s, game, &both[1]) && both[0].pair == game->pair)
        match_score_add_pair(&s->scores[game->pair % s->pairing_count], both);
    s->last = both[1];
}

void match_run_finish(MatchRun *s, bool over, const char *ending) {
    Error err;
    scope(str_release) Str timing;
    str_init(&timing, REPORT_MAX);
    if (s->dropped && s->args->state_file && s->verdict == SPRT_OPEN)
        printf("%d games ended before an earlier pair was complete and will be played again\n",
               s->dropped);
    print_report(s);
    timing_report(&timing, &s->timing, s->engines, s->title.engine_count);
    said_report(&timing, &s->timing, s->engines, s->title.engine_count);
    rule_audit_report(&timing, &s->audit, s->args->play_on, s->timing.thought_us);
    fputs(timing.data, stdout);
    if (s->verdict != SPRT_OPEN)
        printf("SPRT ([%.2f, %.2f]) completed - H%d was accepted\n", s->args->sprt.elo0,
               s->args->sprt.elo1, s->verdict == SPRT_ACCEPTED);
    if (!over)
        write_json(s, ending);
    if (!over && s->args->state_file && !s->stopped && !match_run_save(s, &err))
        stop(s, &err);
    const OutFile *pgn = &s->files[FILE_PGN];
    if (s->args->crc)
        printf("Games written to %s with CRC32: 0x%08x\n", pgn->path, pgn->crc);
    match_log_say(&s->log, LOG_LEVEL_INFO, "%s", ending);
}
