// See fault_report.h.
#include "worker/task/fault_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/log.h"
#include "worker/build/plain_text.h"
#include "worker/match/games_json.h"
#include "worker/match/pgn_out.h"

enum { ZSTD_LEVEL = 9, PGN_MAX = 96 << 10, TALK_MAX = 40 << 10, ERRORS_MAX = 16 << 10 };

bool fault_report_is_in(const GameRecord *game) {
    return game->culprit >= 0 && game->kind != GAME_END_ABORTED;
}

static json_t *pgn_of(const GameRecord *game, const FaultContext *context, size_t max) {
    const Task *task = context->task;
    scope(str_release) Str text;
    char event[128];
    snprintf(event, sizeof event, "Test %lld: %.80s", (long long)task->test_id, task->title);
    const char *const controls[] = {context->control[SIDE_NEW], context->control[SIDE_BASE]};
    const EngineSpec engines[] = {{.name = task->sides[SIDE_NEW].name},
                                  {.name = task->sides[SIDE_BASE].name}};
    PgnHeader header = {.event = event,
                        .site = "?",
                        .engines = engines,
                        .controls = controls,
                        .pairing_count = 1,
                        .chess960 = task->chess960};
    str_init(&text, 4 * PGN_MAX);
    pgn_out_game(&text, &header, game);
    return plain_tail(text.data, text.size, max);
}

static json_t *both(const Task *task, const char *const texts[2], size_t max) {
    json_t *pair = json_object();
    for (int i = 0; i < SIDE_COUNT; i++)
        json_object_set_new(pair, task->sides[i].name, plain_tail(texts[i], strlen(texts[i]), max));
    return pair;
}

// The part of the space that each text may use.
static json_t *document(const GameRecord *game, const FaultContext *context, size_t share) {
    static const MatchFault nothing = {{"", ""}, {"", ""}};
    const Task *task = context->task;
    const MatchFault *seen = game->fault_report ? game->fault_report : &nothing;
    json_t *root = json_pack(
        "{s:i, s:i, s:s, s:s, s:o, s:b, s:o, s:o, s:o}", "pair", task->first_pair + game->pair,
        "game", game->index, "side", task->sides[game->culprit].name, "end",
        game_end_name(game->kind), "reason", plain_line(game->reason, sizeof game->reason - 1),
        "overloaded", game->overloaded, "pgn", pgn_of(game, context, PGN_MAX / share),
        "protocol_log", both(task, seen->protocol_log, TALK_MAX / share), "errors",
        both(task, seen->errors, ERRORS_MAX / share));
    if (!root)
        fatal("out of memory");
    return root;
}

// Text grows in JSON, where quotes and newlines are two bytes. If it is too large, less text is
// kept.
json_t *fault_report_to_json(const GameRecord *game, const FaultContext *context) {
    for (size_t share = 1;; share *= 2) {
        json_t *root = document(game, context, share);
        if (json_dumpb(root, NULL, 0, JSON_COMPACT) <= FAULT_REPORT_JSON_MAX)
            return root;
        json_decref(root);
    }
}

SpoolItem *fault_report_item(const GameRecord *game, const FaultContext *context, int seq) {
    json_auto_t *root = fault_report_to_json(game, context);
    char *text scope(free_ptr) = json_dumps(root, JSON_COMPACT);
    Str packed;
    str_init(&packed, 2 * FAULT_REPORT_JSON_MAX);
    zstd_compress(text, strlen(text), ZSTD_LEVEL, &packed);
    SpoolItem *item = xcalloc(1, sizeof *item);
    *item = (SpoolItem){
        .kind = SPOOL_FAULT_REPORT, .task = context->task->id, .seq = seq, .size = packed.size};
    item->bytes = str_steal(&packed);
    return item;
}
