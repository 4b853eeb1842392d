// See json.h. Games are written without jansson: building a tree of their numbers would take
// longer than playing a very short game.
#include "worker/match_cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/rules/notation.h"
#include "server/common/json_member.h"
#include "worker/match/game_record.h"
#include "worker/match/games_json.h"

static void add_tree(Str *out, const json_t *tree) {
    char *text scope(free_ptr) = tree ? json_dumps(tree, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
    str_puts(out, text ? text : "{}");
    str_putc(out, '\n');
}

static json_t *text_of(const char *text) {
    return text_to_json(text, strlen(text));
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// JSON has no infinities and no NAN: they become null.
static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

void match_json_start(Str *out, const JsonContext *context, const json_t *settings, int from,
                      int pairs) {
    const MatchTitle *title = context->title;
    json_auto_t *tree = json_object();
    json_t *engines = json_array();
    for (int i = 0; i < title->engine_count; i++)
        json_array_append_new(engines, text_of(title->engines[i].name));
    json_object_set_new(tree, "type", json_string(from ? "resume" : "start"));
    json_object_set_new(tree, "time", json_real(now()));
    json_object_set_new(tree, "engines", engines);
    json_object_set_new(tree, "games_per_pair", json_integer(context->games_per_pair));
    json_object_set_new(tree, "pairs", json_integer(pairs));
    json_object_set_new(tree, "from_pair", json_integer(from));
    json_object_set(tree, "settings", (json_t *)settings);
    add_tree(out, tree);
}

// ---- a game -------------------------------------------------------------------------------------

static void add_text(Str *out, const char *name, const char *text) {
    str_printf(out, ",\"%s\":", name);
    json_auto_t *string = text_of(text);
    char *quoted scope(free_ptr) = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    str_puts(out, quoted ? quoted : "\"\"");
}

static void add_moves(Str *out, const GameRecord *game) {
    Position pos = game->game.start;
    char text[MOVE_TEXT_MAX], fen[FEN_MAX];
    add_text(out, "fen", position_to_fen(&pos, fen));
    str_puts(out, game->opening_plies ? ",\"opening\":[" : ",\"opening\":[],\"moves\":[");
    for (int i = 0; i < game->game.plies; i++) {
        Undo undo;
        if (i == game->opening_plies && i)
            str_puts(out, "],\"moves\":[");
        str_printf(out, "%s\"%s\"", i && i != game->opening_plies ? "," : "",
                   move_to_uci(&pos, game->game.moves[i], text));
        position_make(&pos, game->game.moves[i], &undo);
    }
    if (game->opening_plies && game->game.plies == game->opening_plies)
        str_puts(out, "],\"moves\":[");
    str_putc(out, ']');
}

typedef bool (*Pick)(const MoveRecord *move, int64_t *out);
static bool pick_time(const MoveRecord *move, int64_t *out) {
    *out = move->time_us;
    return true;
}
static bool pick_score(const MoveRecord *move, int64_t *out) {
    *out = move->score_cp;
    return move->score_cp != UCI_SCORE_NONE;
}
static bool pick_depth(const MoveRecord *move, int64_t *out) {
    *out = move->depth;
    return true;
}
static bool pick_seldepth(const MoveRecord *move, int64_t *out) {
    *out = move->seldepth;
    return true;
}
static bool pick_nodes(const MoveRecord *move, int64_t *out) {
    *out = move->nodes;
    return true;
}
static bool pick_delay(const MoveRecord *move, int64_t *out) {
    *out = move->delay_us;
    return move->delay_us >= 0;
}
static bool pick_cpu(const MoveRecord *move, int64_t *out) {
    *out = move->cpu_us;
    return move->cpu_us >= 0;
}

// The arrays with one number, or null, for each move after the opening.
static const struct {
    const char *name;
    Pick pick;
} arrays[] = {
    {"times_us", pick_time},      {"scores", pick_score}, {"depths", pick_depth},
    {"seldepths", pick_seldepth}, {"nodes", pick_nodes},  {"latencies_us", record_latency_us},
    {"delays_us", pick_delay},    {"cpus_us", pick_cpu},
};

static void add_arrays(Str *out, const GameRecord *game) {
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        str_printf(out, ",\"%s\":[", arrays[a].name);
        for (int i = game->opening_plies; i < game->game.plies; i++) {
            int64_t value;
            str_puts(out, i > game->opening_plies ? "," : "");
            if (arrays[a].pick(&game->moves[i], &value))
                str_printf(out, "%" PRId64, value);
            else
                str_puts(out, "null");
        }
        str_putc(out, ']');
    }
}

static void add_fault_report(Str *out, const GameRecord *game) {
    const MatchFault *fault_report = game->fault_report;
    if (!fault_report)
        return;
    for (int i = 0; i < 2; i++) {
        add_text(out, i == game->white ? "white_protocol_log" : "black_protocol_log",
                 fault_report->protocol_log[i]);
        add_text(out, i == game->white ? "white_stderr" : "black_stderr", fault_report->errors[i]);
    }
}

void match_json_game(Str *out, const JsonContext *context, const GameRecord *game) {
    const EngineSpec *engines = context->title->engines;
    const EngineSpec *white = &engines[game->players[game->white]];
    const EngineSpec *black = &engines[game->players[1 - game->white]];
    str_printf(out, "{\"type\":\"game\",\"game\":%d,\"round\":%d,\"pair\":%d,\"index\":%d",
               game->pair * context->games_per_pair + game->index + 1,
               game->pair / context->pairing_count + 1, game->pair, game->index);
    add_text(out, "white", white->name);
    add_text(out, "black", black->name);
    add_text(out, "result", game_result_text(game->result));
    add_text(out, "end", game_end_name(game->kind));
    add_text(out, "reason", game->reason);
    if (game->culprit >= 0)
        add_text(out, "culprit", engines[game->players[game->culprit]].name);
    else
        str_puts(out, ",\"culprit\":null");
    str_printf(out,
               ",\"overloaded\":%s,\"time\":%.6f,\"seconds\":%.6f,\"white_rest_us\":%" PRId64
               ",\"black_rest_us\":%" PRId64,
               game->overloaded ? "true" : "false", (double)game->started_us / 1e6,
               (double)game->lasted_us / 1e6, record_rest_us(game, game->white),
               record_rest_us(game, 1 - game->white));
    add_moves(out, game);
    add_arrays(out, game);
    add_fault_report(out, game);
    str_puts(out, "}\n");
}

// ---- reports ------------------------------------------------------------------------------------

static json_t *score_tree(const JsonContext *context, const MatchScore *s) {
    const MatchTitle *title = context->title;
    double games[3] = {(double)s->losses, (double)s->draws, (double)s->wins}, pairs = 0;
    json_t *tree = json_object(), *counts = json_array();
    for (int i = 0; i < 5; i++) {
        json_array_append_new(counts, json_integer((json_int_t)s->pairs[i]));
        pairs += s->pairs[i];
    }
    json_object_set_new(tree, "engine", text_of(title->engines[s->first].name));
    json_object_set_new(tree, "opponent", text_of(title->engines[s->second].name));
    json_object_set_new(tree, "wins", json_integer(s->wins));
    json_object_set_new(tree, "losses", json_integer(s->losses));
    json_object_set_new(tree, "draws", json_integer(s->draws));
    json_object_set_new(tree, "pairs", counts);
    json_object_set_new(
        tree, "time_losses",
        json_pack("[II]", (json_int_t)s->time_losses[0], (json_int_t)s->time_losses[1]));
    json_object_set_new(tree, "faults",
                        json_pack("[II]", (json_int_t)s->faults[0], (json_int_t)s->faults[1]));
    json_object_set_new(tree, "overloaded", json_integer(s->overloaded));
    if (s->wins + s->losses + s->draws) {
        EloEstimate e = pairs > 0 ? elo_estimate(s->pairs, 5) : elo_estimate(games, 3);
        json_object_set_new(tree, "elo", real(e.elo));
        json_object_set_new(tree, "elo_error", real(e.error));
        json_object_set_new(tree, "nelo", real(e.nelo));
        json_object_set_new(tree, "nelo_error", real(e.nelo_error));
        json_object_set_new(tree, "los", real(e.los));
    }
    if (title->bounds)
        json_object_set_new(tree, "llr", real(match_score_llr(s, title->bounds)));
    return tree;
}

static json_t *clock_tree(const Timing *timing, int engine_count) {
    json_t *tree = json_object(), *rests = json_array();
    for (int i = 0; i < engine_count; i++)
        json_array_append_new(rests, json_integer(timing->rest_us[i]));
    json_object_set_new(tree, "moves", json_integer(timing->moves));
    if (timing->told) {
        json_object_set_new(tree, "latency_median_us", real(timing_quantile_us(timing, 0.5)));
        json_object_set_new(tree, "latency_p99_us", real(timing_quantile_us(timing, 0.99)));
        json_object_set_new(tree, "latency_max_us", json_integer(timing->latency_max_us));
    }
    if (timing->measured) {
        json_object_set_new(tree, "thought_us", json_integer(timing->thought_us));
        json_object_set_new(tree, "delayed_us", json_integer(timing->delayed_us));
        json_object_set_new(tree, "delay_max_us", json_integer(timing->delay_max_us));
    }
    json_object_set_new(tree, "time_losses", json_integer(timing->time_losses));
    json_object_set_new(tree, "overloaded", json_integer(timing->overloaded));
    json_object_set_new(tree, "rests_us", rests);
    return tree;
}

void match_json_report(Str *out, const JsonContext *context, const MatchScore *scores, int count,
                       SprtVerdict verdict, const JsonEnding *ending) {
    static const char *const verdicts[] = {
        [SPRT_OPEN] = "open", [SPRT_ACCEPTED] = "H1", [SPRT_REJECTED] = "H0"};
    json_auto_t *tree = json_object();
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, score_tree(context, &scores[i]));
    json_object_set_new(tree, "type", json_string(ending ? "end" : "report"));
    json_object_set_new(tree, "time", json_real(now()));
    json_object_set_new(tree, "scores", list);
    if (ending) {
        json_object_set_new(tree, "ending", json_string(ending->name));
        json_object_set_new(tree, "clock",
                            clock_tree(ending->timing, context->title->engine_count));
    }
    if (context->title->bounds)
        json_object_set_new(tree, "verdict", json_string(verdicts[verdict]));
    add_tree(out, tree);
}
