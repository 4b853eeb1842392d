// Prepares a match from its options, or resumes it from a state file (match_run.h).
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "worker/match_cli/match_run.h"
#include "worker/os/process.h"

enum { TEXT_MAX = 1 << 16, PAIRS_MAX = 1000000000 };

// ---- engines and pairings -----------------------------------------------------------------------

static const char *option_of(const EngineArgs *engine, const char *name) {
    for (int i = 0; i < engine->option_count; i++)
        if (strcmp(engine->options[i].name, name) == 0)
            return engine->options[i].value;
    return NULL;
}

// "10+0.1", "0.1/move", "8 plies", "5000 nodes", as fastchess prints them.
static void limit_words(const EngineArgs *engine, char *out, size_t size) {
    const MatchLimit *limit = &engine->limit;
    if (limit->base_ms > 0 || limit->increment_ms > 0)
        snprintf(out, size, "%s", engine->control);
    else if (limit->move_ms)
        snprintf(out, size, "%g/move", (double)limit->move_ms / 1000);
    else if (limit->depth)
        snprintf(out, size, "%d plies", limit->depth);
    else
        snprintf(out, size, "%lld nodes", (long long)limit->nodes);
}

static void threads_words(const EngineArgs *engine, char *out, size_t size) {
    snprintf(out, size, "%dt", engine->threads);
}

static void hash_words(const EngineArgs *engine, char *out, size_t size) {
    const char *hash = option_of(engine, "Hash");
    snprintf(out, size, "%s%s", hash ? hash : "", hash ? "MB" : "");
}

// "10+0.1, 1t, 16MB, book.epd". A value that differs between the first two engines is given for
// both.
static void describe(MatchRun *s) {
    static void (*const words[])(const EngineArgs *, char *, size_t) = {limit_words, threads_words,
                                                                        hash_words};
    const char *file = s->args->book.file, *slash = file ? strrchr(file, '/') : NULL;
    Str text;
    str_init(&text, sizeof s->detail);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char first[80], second[80];
        words[i](&s->args->engines[0], first, sizeof first);
        words[i](&s->args->engines[1], second, sizeof second);
        bool same = strcmp(first, second) == 0;
        if (*first || *second)
            str_printf(&text, "%s%s%s%s", i ? ", " : "", first, same ? "" : " - ",
                       same ? "" : second);
    }
    if (file)
        str_printf(&text, ", %s", slash ? slash + 1 : file);
    snprintf(s->detail, sizeof s->detail, "%s", text.data);
    str_release(&text);
}

static void make_engines(MatchRun *s) {
    int count = s->args->engine_count;
    s->engines = xcalloc((size_t)count, sizeof *s->engines);
    s->controls = xcalloc((size_t)count, sizeof *s->controls);
    for (int i = 0; i < count; i++) {
        const EngineArgs *engine = &s->args->engines[i];
        s->controls[i] = engine->control;
        s->engines[i] = (EngineSpec){.name = engine->name,
                                     .argv = (const char *const *)engine->argv,
                                     .directory = engine->directory,
                                     .options = engine->options,
                                     .option_count = engine->option_count,
                                     .init = engine->init,
                                     .threads = engine->threads,
                                     .restart = engine->restart,
                                     .limit = engine->limit};
        s->engines[i].limit.owed = s->args->fair;
    }
}

static bool make_pairings(MatchRun *s, Error *err) {
    const MatchArgs *args = s->args;
    s->pairings = tournament_pairings(args->tournament, args->engine_count, args->seeds,
                                      args->reverse, &s->pairing_count);
    int64_t pairs = (int64_t)s->pairing_count * args->rounds;
    if (pairs > PAIRS_MAX)
        return error_set(err, 422, "bad_argument", "-rounds %d: more than 1000 million pairs",
                         args->rounds);
    s->pair_count = (int)pairs;
    s->scores = xcalloc((size_t)s->pairing_count, sizeof *s->scores);
    s->live = xcalloc((size_t)s->pairing_count, sizeof *s->live);
    for (int i = 0; i < s->pairing_count; i++) {
        int first = s->pairings[i].first, second = s->pairings[i].second;
        bool turned = first > second; // scores are those of the engine that was given first
        s->scores[i].first = turned ? second : first;
        s->scores[i].second = turned ? first : second;
    }
    return true;
}

// ---- settings that identify the match -----------------------------------------------------------

static void set(json_t *settings, const char *key, const char *text) {
    bool utf8 = json_object_set_new(settings, key, json_string(text)) == 0;
    if (!utf8) // two texts that are not UTF-8 compare as equal
        json_object_set_new(settings, key, json_string("?"));
}

// CRC-32 of the bytes of a file; "" if it cannot be read, such as a program that PATH finds.
static void file_sum(const char *path, char *out, size_t size) {
    unsigned char chunk[1 << 16];
    unsigned long sum = crc32(0, NULL, 0);
    ssize_t n = 0;
    int fd scope(close_fd) = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    while (fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0)
        sum = crc32(sum, chunk, (unsigned)n);
    *out = 0;
    if (fd >= 0 && n == 0)
        snprintf(out, size, "%08lx", sum);
}

static void set_engine(json_t *settings, const EngineArgs *engine, int number) {
    char key[48], sum[16];
    scope(str_release) Str text;
    str_init(&text, TEXT_MAX);
    str_printf(&text, "%s:", engine->name);
    for (int i = 0; i <= engine->argc; i++)
        str_printf(&text, " %s", engine->argv[i]);
    str_printf(&text, "; %s", engine->control);
    if (engine->limit.margin_ms)
        str_printf(&text, " timemargin=%lld", (long long)engine->limit.margin_ms);
    for (int i = 0; i < engine->option_count; i++)
        str_printf(&text, "; %s=%s", engine->options[i].name,
                   engine->options[i].value ? engine->options[i].value : "");
    if (engine->directory)
        str_printf(&text, "; in %s", engine->directory);
    if (engine->init)
        str_printf(&text, "; says %s", engine->init);
    snprintf(key, sizeof key, "engine %d", number);
    set(settings, key, text.data);
    file_sum(engine->command, sum, sizeof sum);
    snprintf(key, sizeof key, "CRC of engine %d's program", number);
    set(settings, key, sum);
}

static void set_book(json_t *settings, const BookSpec *book) {
    char text[64], sum[16];
    static const char *const formats[] = {"epd", "pgn", "polyglot"};
    file_sum(book->file, sum, sizeof sum);
    set(settings, "book", book->file ? book->file : "");
    set(settings, "CRC of the book", sum);
    if (!book->file)
        return;
    snprintf(text, sizeof text, "%s, %s, from %d, %d plies", formats[book->format],
             book->random ? "random" : "sequential", book->start, book->plies);
    set(settings, "openings", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)book->seed);
    set(settings, "seed", text);
}

static void set_rules(json_t *settings, const MatchArgs *args) {
    const Adjudication *a = &args->adjudication;
    char text[160];
    snprintf(text, sizeof text, "%s%s%s%s, %d games a pair",
             args->tournament == TOURNAMENT_GAUNTLET ? "gauntlet" : "round robin",
             args->no_swap ? ", no swap" : "", args->reverse ? ", reversed" : "",
             args->book.chess960 ? ", Chess960" : "", args->games);
    set(settings, "tournament", text);
    snprintf(text, sizeof text, "draw %d/%d/%d, resign %d/%d%s, maxmoves %d", a->draw_move,
             a->draw_count, a->draw_score, a->resign_count, a->resign_score,
             a->resign_two_sided ? " twosided" : "", a->max_moves);
    set(settings, "adjudication", text);
    if (args->fair)
        set(settings, "fair", "yes");
    text[0] = 0;
    if (args->has_sprt)
        snprintf(text, sizeof text, "%g %g %g %g %s", args->sprt.elo0, args->sprt.elo1,
                 args->sprt.alpha, args->sprt.beta,
                 args->sprt.model == SPRT_NORMALIZED ? "normalized" : "logistic");
    set(settings, "sprt", text);
}

json_t *match_run_settings(const MatchRun *s) {
    const MatchArgs *args = s->args;
    json_t *settings = json_object();
    for (int i = 0; i < args->engine_count; i++)
        set_engine(settings, &args->engines[i], i + 1);
    set_book(settings, &args->book);
    set_rules(settings, args);
    set(settings, "pgnout", args->pgn_file ? args->pgn_file : "");
    set(settings, "epdout", args->epd_file ? args->epd_file : "");
    set(settings, "jsonout", args->json_file ? args->json_file : "");
    return settings;
}

// ---- files --------------------------------------------------------------------------------------

static bool open_files(MatchRun *s, bool resume, const int64_t sizes[FILE_COUNT], Error *err) {
    const MatchArgs *args = s->args;
    const char *const paths[] = {args->pgn_file, args->epd_file, args->json_file};
    const bool append[] = {args->pgn_append, args->epd_append, args->json_append};
    for (int i = 0; i < FILE_COUNT; i++) {
        bool summed = i == FILE_PGN && args->crc;
        bool fine = resume ? out_file_resume(&s->files[i], paths[i], sizes[i], summed, err)
                           : out_file_open(&s->files[i], paths[i], append[i], summed, err);
        if (!fine)
            return false;
    }
    return true;
}

static bool start_json(MatchRun *s, Error *err) {
    JsonContext context = {&s->title, s->pairing_count, s->args->games};
    if (!s->args->json_file)
        return true;
    scope(str_release) Str line;
    str_init(&line, 1 << 20);
    match_json_start(&line, &context, s->state.settings, s->pairs, s->pair_count);
    return out_file_write(&s->files[FILE_JSON], line.data, line.size, err);
}

// Takes over the values of a state file. The state of another match is refused.
static bool take_up(MatchRun *s, const MatchState *old, Error *err) {
    if (!match_state_same(old, s->state.settings, err))
        return error_prefix(err,
                            "-state %s belongs to another match (to start a new match, remove the "
                            "file or use another one)",
                            s->args->state_file);
    if (old->score_count != s->pairing_count || old->pairs > s->pair_count)
        return error_set(err, 409, "other_match",
                         "-state %s: %d pairs were played, more than the %d of -rounds",
                         s->args->state_file, old->pairs, s->pair_count);
    for (int i = 0; i < s->pairing_count; i++) {
        if (old->scores[i].first != s->scores[i].first ||
            old->scores[i].second != s->scores[i].second)
            return error_set(err, 409, "other_match", "-state %s: the pairings are different",
                             s->args->state_file);
        s->scores[i] = s->live[i] = old->scores[i];
    }
    s->pairs = old->pairs;
    s->saved_games = old->pairs * s->args->games;
    s->live_games = s->saved_games;
    s->verdict = (SprtVerdict)old->verdict;
    return open_files(s, true, old->sizes, err);
}

static bool begin(MatchRun *s, Error *err) {
    MatchState old = {0};
    bool missing = true;
    if (s->args->state_file && !match_state_load(&old, s->args->state_file, &missing, err) &&
        !missing) {
        match_state_release(&old);
        return false;
    }
    memcpy(s->live, s->scores, (size_t)s->pairing_count * sizeof *s->live);
    bool fine = missing ? open_files(s, false, old.sizes, err) : take_up(s, &old, err);
    match_state_release(&old);
    bool over = s->pairs == s->pair_count || s->verdict != SPRT_OPEN;
    // Saved before the first write, so that a resumed match keeps what the files held before it.
    if (!fine || over)
        return fine;
    return (!s->args->state_file || match_run_save(s, err)) && start_json(s, err);
}

// ---- the match ----------------------------------------------------------------------------------

// Empty if a word is not UTF-8: then the match cannot be resumed with -state FILE alone.
static json_t *command_of(int argc, const char *const *argv) {
    json_t *command = json_array();
    for (int i = 0; i < argc; i++)
        if (json_array_append_new(command, json_string(argv[i])) < 0) {
            json_array_clear(command);
            break;
        }
    return command;
}

bool match_run_prepare(MatchRun *s, const MatchArgs *args, int argc, const char *const *argv,
                       Error *err) {
    *s = (MatchRun){.args = args, .saved_ns = os_now_ns(), .last = {.pair = -1}};
    for (int i = 0; i < FILE_COUNT; i++)
        s->files[i].fd = -1;
    make_engines(s);
    describe(s);
    s->title = (MatchTitle){.engines = s->engines,
                            .engine_count = args->engine_count,
                            .detail = s->detail,
                            .bounds = args->has_sprt ? &args->sprt : NULL,
                            .cutechess = args->cutechess,
                            .games_only = !args->pairs_reported};
    if (!make_pairings(s, err) || !openings_load(&s->openings, &args->book, args->rounds, err) ||
        !match_log_open(&s->log, args, err))
        return false;
    s->state.settings = match_run_settings(s);
    s->state.command = command_of(argc, argv);
    return begin(s, err);
}

void match_run_release(MatchRun *s) {
    match_free(s->match);
    openings_release(&s->openings);
    for (int i = 0; i < FILE_COUNT; i++)
        out_file_close(&s->files[i]);
    match_log_close(&s->log);
    match_state_release(&s->state);
    free(s->engines);
    free(s->controls);
    free(s->pairings);
    free(s->scores);
    free(s->live);
    *s = (MatchRun){0};
}

static Opening opening_of(void *ctx, int pair) {
    const MatchRun *s = ctx;
    return s->openings.items[pair / s->pairing_count % s->openings.count];
}

MatchSpec match_run_spec(MatchRun *s) {
    const MatchArgs *args = s->args;
    return (MatchSpec){.engines = s->engines,
                       .engine_count = args->engine_count,
                       .pairings = s->pairings,
                       .pairing_count = s->pairing_count,
                       .pair_first = s->pairs,
                       .pair_count = s->pair_count - s->pairs,
                       .games_per_pair = args->games,
                       .no_swap = args->no_swap,
                       .opening = opening_of,
                       .slots = args->slots,
                       .pin = !args->no_affinity,
                       .chess960 = args->book.chess960,
                       .adjudication = args->adjudication,
                       .startup_ms = args->startup_ms,
                       .ping_ms = args->ping_ms,
                       .new_game_ms = args->new_game_ms,
                       .rest_ms = args->wait_ms,
                       .keep_info = args->pgn_file && pgn_format_needs_info(&args->pgn),
                       .check_pvs = args->check_pvs || args->strict,
                       .no_pondering = args->fair,
                       .on_start = match_run_on_start,
                       .on_game = match_run_on_game,
                       .on_pair = match_run_on_pair,
                       .on_rest = match_run_on_rest,
                       .plays_on = args->play_on ? match_run_plays_on : NULL,
                       .on_played_on = match_run_on_played_on,
                       .on_warning = match_run_on_warning,
                       .on_line = match_log_wants_lines(&s->log) ? match_run_on_line : NULL,
                       .ctx = s};
}
