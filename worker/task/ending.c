// See ending.h.
#include "worker/task/ending.h"

#include <stdlib.h>
#include <string.h>

#include "engine/rules/notation.h"
#include "server/common/hash.h"
#include "server/common/log.h"
#include "worker/match/games_json.h"

enum { ZSTD_LEVEL = 9, ENDING_MAX = 16 << 10 };

// The moves after the rule, in UCI notation.
static void add_moves(Str *out, const PlayedOn *played) {
    const Game *game = &played->game->game;
    Position pos = game->start;
    char text[MOVE_TEXT_MAX];
    Undo undo;
    for (int i = 0; i < game->plies; i++) {
        if (i > played->ruled_plies)
            str_putc(out, ' ');
        if (i >= played->ruled_plies)
            str_puts(out, move_to_uci(&pos, game->moves[i], text));
        position_make(&pos, game->moves[i], &undo);
    }
}

static char *document(const PlayedOn *played) {
    const GameRecord *game = played->game;
    bool open = game->kind == GAME_END_ADJUDICATION;
    int64_t before_us = record_thought_us(game, game->opening_plies, played->ruled_plies),
            after_us = record_thought_us(game, played->ruled_plies, game->game.plies);
    scope(str_release) Str moves;
    str_init(&moves, ENDING_MAX);
    add_moves(&moves, played);
    json_auto_t *root = json_pack("{s:s, s:s, s:s, s:[I, I]}", "moves", moves.data, "result",
                                  open ? "*" : game_result_text(game->result), "end",
                                  open ? "open" : game_end_name(game->kind), "thought_ms",
                                  (json_int_t)(before_us / 1000), (json_int_t)(after_us / 1000));
    char *text = json_dumps(root, JSON_COMPACT);
    if (!text)
        fatal("out of memory");
    return text;
}

SpoolItem *ending_item(const PlayedOn *played, int64_t task, int number) {
    char *text scope(free_ptr) = document(played);
    Str packed;
    str_init(&packed, ENDING_MAX);
    zstd_compress(text, strlen(text), ZSTD_LEVEL, &packed);
    SpoolItem *item = xcalloc(1, sizeof *item);
    *item = (SpoolItem){.kind = SPOOL_ENDING, .task = task, .seq = number, .size = packed.size};
    item->bytes = str_steal(&packed);
    return item;
}
