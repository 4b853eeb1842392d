// See doc_games.h.
#include "server/pages/doc_games.h"

#include <math.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/pages/format.h"
#include "sql/archive.h"

enum { SENTENCE_MAX = 400 };

static void add_value(Str *out, const char *format, json_t *value) {
    __attribute__((unused)) json_auto_t *owned = value;
    format_value(format, value, out);
}

static void say_dropped(Str *out, double dropped) {
    str_puts(out, "were dropped on ");
    add_value(out, "date", json_real(dropped));
    str_puts(out, ", because the server's disk was nearly full");
}

bool doc_games_dropped(int64_t test, double dropped, Error *err) {
    Str text scope(str_release);
    str_init(&text, SENTENCE_MAX);
    if (isnan(dropped))
        return true;
    say_dropped(&text, dropped);
    return error_set(err, 410, "games_dropped", "the games of test %lld %s; its results are kept",
                     (long long)test, text.data);
}

// The sentence of page and document.
static json_t *words(int64_t counted, int64_t stored, const json_t *dropped) {
    Str text scope(str_release);
    str_init(&text, SENTENCE_MAX);
    if (json_is_number(dropped)) {
        str_puts(&text, "The games of this test ");
        say_dropped(&text, json_number_value(dropped));
        str_puts(&text, ". The results are kept.");
        return json_string(text.data);
    }
    if (stored == 0)
        return json_string("No games have come yet.");
    add_value(&text, "whole", json_integer(counted));
    str_puts(&text, counted == 1 ? " game counts" : " games count");
    if (stored > counted) {
        str_puts(&text, ", and ");
        add_value(&text, "whole", json_integer(stored - counted));
        str_puts(&text, " more are stored");
    }
    str_putc(&text, '.');
    return json_string(text.data);
}

static json_t *address(int64_t test, const char *ending, bool there) {
    char *path scope(free_ptr) = xasprintf("/tests/%lld/games.%s", (long long)test, ending);
    return there ? json_string(path) : json_null();
}

json_t *doc_games(const DocContext *ctx, const json_t *row, const json_t *stats) {
    int64_t test = member_int(row, "id"), counted = member_int(stats, "games");
    json_t *dropped = json_object_get(row, "games_dropped");
    if (!json_object_get(stats, "ptnml"))
        return json_null();
    int64_t stored = sql_archive_stored(ctx->db, 0, test);
    bool there = stored > 0 && !json_is_number(dropped);
    return json_pack("{s:I, s:I, s:O, s:o, s:o, s:o}", "counted", (json_int_t)counted, "stored",
                     (json_int_t)stored, "dropped", dropped, "pgn", address(test, "pgn", there),
                     "jsonl", address(test, "jsonl", there), "text",
                     words(counted, stored, dropped));
}
