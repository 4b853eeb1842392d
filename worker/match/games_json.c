// See games_json.h. The text is written directly and not through a JSON tree, because a batch has
// tens of thousands of numbers.
#include "worker/match/games_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "engine/rules/notation.h"

const char *game_end_name(GameEndKind kind) {
    static const char *const names[] = {
        [GAME_END_RULE] = "rule",     [GAME_END_ADJUDICATION] = "adjudication",
        [GAME_END_TIME] = "time",     [GAME_END_ILLEGAL] = "illegal",
        [GAME_END_CRASH] = "crash",   [GAME_END_STALL] = "stall",
        [GAME_END_PONDER] = "ponder", [GAME_END_ABORTED] = "aborted",
    };
    return names[kind];
}

static void add_string(Str *out, const char *text) {
    json_auto_t *string = json_string(text ? text : "");
    char *quoted scope(free_ptr) = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    str_puts(out, quoted ? quoted : "\"\"");
}

static void add_moves(Str *out, const GameRecord *game) {
    Position pos = game->game.start;
    char text[MOVE_TEXT_MAX];
    str_puts(out, ",\"moves\":\"");
    for (int i = 0; i < game->game.plies; i++) {
        Undo undo;
        if (i > game->opening_plies)
            str_putc(out, ' ');
        if (i >= game->opening_plies)
            str_puts(out, move_to_uci(&pos, game->game.moves[i], text));
        position_make(&pos, game->game.moves[i], &undo);
    }
    str_putc(out, '"');
}

// The time left on the mover's clock after each move; 0 if the mover has no clock.
static void add_clocks(Str *out, const GameRecord *game, const MatchLimit limits[2]) {
    int white_first = game->game.start.side == WHITE ? game->opening_plies % 2 == 0
                                                     : game->opening_plies % 2 == 1;
    int first = white_first ? game->white : 1 - game->white; // engine that makes the first move
    int64_t left_us[2] = {limits[0].base_ms * 1000, limits[1].base_ms * 1000};
    int moved[2] = {0, 0};
    str_puts(out, ",\"clock_ms\":[");
    for (int i = game->opening_plies; i < game->game.plies; i++) {
        int e = (i - game->opening_plies) % 2 == 0 ? first : 1 - first;
        const MatchLimit *limit = &limits[e];
        left_us[e] += limit->increment_ms * 1000 - game->moves[i].time_us;
        if (limit->moves_to_go && ++moved[e] % limit->moves_to_go == 0)
            left_us[e] += limit->base_ms * 1000;
        int64_t shown = limit->base_ms && left_us[e] > 0 ? left_us[e] / 1000 : 0;
        str_printf(out, "%s%" PRId64, i > game->opening_plies ? "," : "", shown);
    }
    str_putc(out, ']');
}

static void add_score(Str *out, const MoveRecord *move) {
    if (move->score_cp == UCI_SCORE_NONE)
        str_puts(out, "null");
    else
        str_printf(out, "%" PRId32, move->score_cp);
}

static void add_depth(Str *out, const MoveRecord *move) {
    str_printf(out, "%" PRId32, move->depth);
}

static void add_nodes(Str *out, const MoveRecord *move) {
    str_printf(out, "%" PRId64, move->nodes);
}

static void add_array(Str *out, const GameRecord *game, const char *name,
                      void (*add)(Str *, const MoveRecord *)) {
    str_printf(out, ",\"%s\":[", name);
    for (int i = game->opening_plies; i < game->game.plies; i++) {
        if (i > game->opening_plies)
            str_putc(out, ',');
        add(out, &game->moves[i]);
    }
    str_putc(out, ']');
}

void games_json_add(Str *out, const GameRecord *game, const GameContext *context) {
    str_printf(out, "{\"pair\":%d,\"opening\":{\"fen\":", context->pair);
    add_string(out, context->opening->fen);
    str_puts(out, ",\"moves\":");
    add_string(out, context->opening->moves);
    str_printf(out, "},\"new_is\":\"%s\",\"result\":\"%s\",\"end\":\"%s\",\"reason\":",
               game->white == 0 ? "white" : "black", game_result_text(game->result),
               game_end_name(game->kind));
    add_string(out, game->reason);
    add_moves(out, game);
    add_clocks(out, game, context->limits);
    add_array(out, game, "scores", add_score);
    add_array(out, game, "depths", add_depth);
    add_array(out, game, "nodes", add_nodes);
    if (game->kind == GAME_END_TIME)
        str_printf(out, ",\"flag_ms\":%" PRId64, game->flag_us / 1000);
    str_printf(out, ",\"rest_ms\":{\"new\":%" PRId64 ",\"base\":%" PRId64 "}}\n",
               record_rest_us(game, 0) / 1000, record_rest_us(game, 1) / 1000);
}
