// Games of the archive as lines of JSON: see game_files.h. The lists of numbers are most of a line,
// so they are written as text, and the rest through the JSON library.
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/game_files.h"

static void add_list(Str *out, const char *name, const GameText *text, GameListName list) {
    str_printf(out, ",\"%s\":[", name);
    for (int i = 0; i < text->counts[list]; i++) {
        int64_t value = text->values[list][i];
        str_puts(out, i ? "," : "");
        if (value == GAME_LIST_NULL)
            str_puts(out, "null");
        else
            str_printf(out, "%lld", (long long)value);
    }
    str_putc(out, ']');
}

// Where the game belongs, and what is no list.
static json_t *head_of(const ArchivedGame *game) {
    const SqlArchiveBatches *b = game->batch;
    const GameLine *line = &game->line;
    json_t *rest = json_object_get(game->json, "rest_ms");
    json_t *head = json_pack(
        "{s:I, s:I, s:I, s:I, s:i, s:I, s:s, s:{s:o, s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:{s:I, "
        "s:I}}",
        "test", (json_int_t)b->test, "task", (json_int_t)b->task, "batch", (json_int_t)b->seq,
        "pair", (json_int_t)(b->first_pair + game->number / 2), "game", game->number % 2, "machine",
        (json_int_t)b->machine, "counts", b->counts, "opening", "number",
        game->opening < 0 ? json_null() : json_integer(game->opening + 1), "fen",
        member_text(line->opening, "fen"), "moves", member_text(line->opening, "moves"), "new_is",
        line->new_is_white ? "white" : "black", "result", line->result, "end", line->end, "reason",
        member_text(game->json, "reason"), "moves", line->moves, "rest_ms", "new",
        (json_int_t)member_int(rest, "new"), "base", (json_int_t)member_int(rest, "base"));
    if (line->flag_ms >= 0)
        json_object_set_new(head, "flag_ms", json_integer(line->flag_ms));
    return head;
}

bool game_file_json(Str *out, const ArchivedGame *game, Error *err) {
    json_auto_t *head = head_of(game);
    char *text scope(free_ptr) = head ? json_dumps(head, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    if (!text)
        return game_is_wrong(err, game->number, "it cannot be written");
    str_add(out, text, strlen(text) - 1);
    add_list(out, "clock_ms", game->text, LIST_CLOCKS);
    add_list(out, "scores", game->text, LIST_SCORES);
    add_list(out, "depths", game->text, LIST_DEPTHS);
    add_list(out, "nodes", game->text, LIST_NODES);
    str_puts(out, "}\n");
    return true;
}
