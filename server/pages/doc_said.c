// See doc_said.h.
#include "server/pages/doc_said.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/common/said.h"
#include "server/common/str.h"
#include "sql/pages.h"

// A side is flagged if it is wrong about more than one move in so many, and about so many at least.
enum { SAID_ONE_IN = 10000, SAID_WRONG_LEAST = 3 };

static bool is_flagged(const json_t *side) {
    int64_t wrong = member_int(side, "wrong");
    return wrong >= SAID_WRONG_LEAST && wrong * SAID_ONE_IN > member_int(side, "moves");
}

static void add_kinds(const json_t *side, Str *out) {
    const char *before = ": ";
    for (int kind = 0; kind < SAID_KINDS; kind++) {
        int64_t count = member_int(side, said_names[kind]);
        if (!count)
            continue;
        str_printf(out, "%s%lld with %s", before, (long long)count, said_words[kind]);
        before = ", ";
    }
}

// Whether it is the engine or a machine: of those that played more moves than it takes to show one
// mistake, how many show any.
static void add_share(const json_t *side, const json_t *machines, Str *out) {
    int64_t wrong = member_int(side, "wrong"), moves = member_int(side, "moves");
    int of = 0, showing = 0;
    const json_t *machine;
    size_t i;
    json_array_foreach (machines, i, machine) {
        bool shows = member_int(machine, "wrong") > 0;
        if (strcmp(member_text(machine, "side"), member_text(side, "side")) != 0)
            continue;
        showing += shows;
        of += shows || member_int(machine, "moves") * wrong >= moves;
    }
    if (of > 1)
        str_printf(out, "; %d of %d machines show%s it", showing, of, showing == 1 ? "s" : "");
}

// One sentence for each side that is flagged, else null.
static json_t *warning_of(const json_t *sides, const json_t *machines) {
    Str text scope(str_release);
    str_init(&text, 4096);
    const json_t *side;
    size_t i;
    json_array_foreach (sides, i, side) {
        if (!is_flagged(side))
            continue;
        str_printf(&text, "%sWhat side %s says is wrong for %lld of its %lld moves",
                   text.size ? " " : "", member_text(side, "side"),
                   (long long)member_int(side, "wrong"), (long long)member_int(side, "moves"));
        add_kinds(side, &text);
        add_share(side, machines, &text);
        str_puts(&text, ".");
    }
    return text.size ? json_string(text.data) : json_null();
}

// The machines of the flagged sides.
static json_t *machines_shown(const json_t *sides, const json_t *machines) {
    json_t *out = json_array();
    const json_t *side;
    json_t *machine;
    size_t i, j;
    json_array_foreach (sides, i, side) {
        if (is_flagged(side))
            json_array_foreach (machines, j, machine)
                if (strcmp(member_text(machine, "side"), member_text(side, "side")) == 0)
                    json_array_append(out, machine);
    }
    return out;
}

void doc_add_said(const DocContext *ctx, int64_t test, json_t *out) {
    json_t *sides = sql_page_said_of_sides(ctx->db, test), *side;
    bool any = false;
    size_t i;
    json_array_foreach (sides, i, side) {
        any |= is_flagged(side);
        json_object_set_new(side, "flagged", json_boolean(is_flagged(side)));
    }
    json_auto_t *machines = any ? sql_page_said_of_machines(ctx->db, test) : json_array();
    json_object_set_new(out, "said_warning", warning_of(sides, machines));
    json_object_set_new(
        out, "said",
        json_pack("{s:o, s:o}", "sides", sides, "machines", machines_shown(sides, machines)));
}
