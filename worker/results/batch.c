// See batch.h.
#include "worker/results/batch.h"

#include <stdlib.h>

#include "server/common/hash.h"
#include "server/common/log.h"

enum { ZSTD_LEVEL = 9, GAMES_ZST_MAX = 8 << 20 };

void batch_init(GameBatch *batch, int64_t task, int seq, int pairs_max) {
    *batch = (GameBatch){.task = task, .seq = seq, .pairs_max = pairs_max};
    batch->outcomes = xcalloc((size_t)pairs_max + 1, 1);
    str_init(&batch->games, GAMES_JSON_MAX);
}

void batch_release(GameBatch *batch) {
    free(batch->outcomes);
    str_release(&batch->games);
    *batch = (GameBatch){0};
}

// The score of the new side in half points: 0, 1 or 2. A finished game always has a result.
static int half_points(const GameRecord *game) {
    if (game->result == RESULT_DRAW)
        return 1;
    bool white_won = game->result == RESULT_WHITE_WINS;
    return white_won == (game->white == 0) ? 2 : 0;
}

static void count_game(GameBatch *batch, const GameRecord *game, int points) {
    batch->losses += points == 0;
    batch->draws += points == 1;
    batch->wins += points == 2;
    batch->time_losses += game->kind == GAME_END_TIME;
    if (game->kind == GAME_END_PONDER)
        batch->ponders[points > 0]++;
    batch->crashes += game->kind == GAME_END_CRASH || game->kind == GAME_END_ILLEGAL ||
                      game->kind == GAME_END_STALL;
}

static int64_t thinking_us(const GameRecord *game) {
    int64_t sum = game->kind == GAME_END_TIME ? game->flag_us : 0;
    for (int i = game->opening_plies; i < game->game.plies; i++)
        sum += game->moves[i].time_us;
    return sum;
}

void batch_add(GameBatch *batch, const GameRecord games[2], const GameContext *context) {
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        int points = half_points(&games[i]);
        sum += points;
        count_game(batch, &games[i], points);
        batch->thought_us += thinking_us(&games[i]);
        said_add(&batch->said[0], &games[i].said[0]);
        said_add(&batch->said[1], &games[i].said[1]);
        games_json_add(&batch->games, &games[i], context);
    }
    batch->outcomes[batch->pairs++] = (char)('0' + sum);
}

bool batch_is_full(const GameBatch *batch) {
    return batch->pairs == batch->pairs_max;
}

// The server does not take games over its limit, nor counts without games.
static void compress_games(const GameBatch *batch, SpoolItem *item) {
    Str packed;
    str_init(&packed, GAMES_ZST_MAX);
    zstd_compress(batch->games.data, batch->games.size, ZSTD_LEVEL, &packed);
    if (batch->games.overflow || packed.overflow) {
        log_warn("the games of a batch are too large for the server, which will refuse it");
        str_release(&packed);
        return;
    }
    item->size = packed.size;
    item->bytes = str_steal(&packed);
}

static json_t *said_to_json(const Said said[2]) {
    static const char *const sides[2] = {"new", "base"};
    json_t *root = json_object();
    for (int i = 0; i < 2; i++) {
        json_t *side = json_pack("{s:i}", "moves", said[i].moves);
        for (int kind = 0; kind < SAID_KINDS; kind++)
            json_object_set_new(side, said_names[kind], json_integer(said[i].wrong[kind]));
        json_object_set_new(root, sides[i], side);
    }
    return root;
}

SpoolItem *batch_finish(GameBatch *batch, const BatchFacts *facts) {
    SpoolItem *item = xcalloc(1, sizeof *item);
    *item = (SpoolItem){.task = batch->task, .seq = batch->seq};
    compress_games(batch, item);
    char hash[SHA256_HEX_MAX];
    json_t *games =
        item->bytes ? json_string(sha256_hex(item->bytes, item->size, hash)) : json_null();
    json_t *result =
        json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "outcomes", batch->outcomes, "wins",
                  batch->wins, "losses", batch->losses, "draws", batch->draws, "crashes",
                  batch->crashes, "time_losses", batch->time_losses, "ponders", batch->ponders[0],
                  "ponders_against", batch->ponders[1]);
    item->counts =
        json_pack("{s:i, s:o, s:s, s:f, s:f, s:I, s:o}", "seq", batch->seq, "result", result, "tc",
                  facts->tc, "speed", facts->speed, "busy", facts->busy, "thought",
                  (json_int_t)(batch->thought_us / 1000), "games_sha256", games);
    if (!item->counts)
        fatal("out of memory");
    json_object_set_new(item->counts, "said", said_to_json(batch->said));
    if (facts->load)
        json_object_set_new(item->counts, "load", load_to_json(facts->load));
    return item;
}
