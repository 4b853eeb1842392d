// See replayer.h.
#include "server/ledger/replayer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/background.h"
#include "server/common/clock.h"
#include "server/common/hash.h"
#include "server/common/log.h"
#include "server/db/settings.h"
#include "server/ledger/ledger.h"
#include "server/ledger/replay.h"
#include "server/storage/blob.h"
#include "server/storage/book.h"
#include "sql/core.h"

// The first batches of each machine are replayed in any case, and a starting server looks back at
// so many batches. Rules of the system; the share of all other batches is the setting
// `replay_share`.
enum { FOUND_MAX = 64, FIRST_BATCHES = 3, CATCH_UP_BATCHES = 1000, LOOK_EVERY_S = 1 };

struct Replayer {
    Background *thread;
    pthread_mutex_t mutex; // of `found`
    Db *db;                // the thread's own, for reading
    Db *notes;             // for writing which batch it has begun
    const char *data;
    int64_t last; // the last batch that was considered
    Replayed found[FOUND_MAX];
    int found_count;
};

// Random, so that no machine can know which of its batches will be replayed.
static bool is_drawn(double share) {
    uint32_t random;
    random_bytes(&random, sizeof random);
    return random < share * 4294967296.0;
}

// The next chosen batch; false if there is none.
static bool next_batch(Replayer *replayer, SqlReplayNext *batch) {
    double share = setting_real(replayer->db, SETTING_REPLAY_SHARE);
    while (sql_replay_next(replayer->db, batch, .after = replayer->last, .limit = FIRST_BATCHES)) {
        replayer->last = batch->id;
        if (share > 0 && (batch->before < FIRST_BATCHES || is_drawn(share)))
            return true;
    }
    return false;
}

// The conditions of the batch's test. False: something of them is not to be had.
static bool read_conditions(const char *data, const SqlReplayNext *batch, json_t **openings,
                            ReplayFacts *facts) {
    Error err;
    int64_t pairs = (int64_t)strlen(batch->outcomes);
    ClockScale scale = {batch->reference_speed, batch->scale_min, batch->scale_max};
    Str text scope(str_release);
    str_init(&text, (size_t)(pairs + 1) * OPENING_TEXT_MAX);
    if (!book_openings(data, batch->book, batch->seed, batch->first_pair, pairs, &text, &err) ||
        !replay_rules(batch->adjudication, &facts->rules) ||
        !clock_scale_apply(&scale, batch->new_tc, batch->speed, &facts->clocks[0], &err) ||
        (batch->base_tc &&
         !clock_scale_apply(&scale, batch->base_tc, batch->speed, &facts->clocks[1], &err)))
        return false;
    facts->openings = *openings = json_loadb(text.data, text.size, 0, NULL);
    return *openings != NULL;
}

// If the games cannot be read, the batch is left out: that is not the machine's fault.
static void look_at(const char *data, const SqlReplayNext *batch, Replayed *out) {
    Error err;
    size_t size;
    Str text scope(str_release);
    int64_t pairs = (int64_t)strlen(batch->outcomes);
    ReplayFacts facts = {.first_pair = batch->first_pair,
                         .outcomes = batch->outcomes,
                         .crashes = batch->crashes,
                         .time_losses = batch->time_losses,
                         .ponders = batch->ponders,
                         .margin_ms = {batch->new_margin, batch->base_margin},
                         .thought = batch->thought,
                         .said_moves = batch->said_moves,
                         .chess960 = batch->chess960};
    json_auto_t *openings = NULL;
    str_init(&text, games_text_max(pairs));
    *out = (Replayed){.batch = batch->id};
    char *packed scope(free_ptr) =
        sha256_is_hex(batch->sha) ? blob_get(data, batch->sha, GAMES_MAX, &size, &err) : NULL;
    if (!packed || !zstd_decompress(packed, size, &text, &err) ||
        !read_conditions(data, batch, &openings, &facts)) {
        snprintf(out->left_out, sizeof out->left_out, "its games or its openings cannot be read");
        return;
    }
    out->games = 2 * pairs;
    if (!replay_games(text.data, text.size, &facts, &err))
        snprintf(out->fault, sizeof out->fault, "%.290s", err.message);
}

// Writes down the batch before any of it is read. If the replay ends the server by a crash, the
// next server does not try the batch again. The note is removed in the COMMIT that stores the
// result.
static bool note_begun(Replayer *replayer, int64_t batch) {
    Error err;
    bool good = db_begin(replayer->notes, &err) &&
                sql_replay_begin(replayer->notes, &err, .batch = batch, .now = time_now()) &&
                db_commit(replayer->notes, &err);
    if (good)
        return true;
    db_rollback(replayer->notes);
    log_warn("no batch can be replayed at the moment: %s", err.message);
    return false;
}

static bool is_full(Replayer *replayer) {
    pthread_mutex_lock(&replayer->mutex);
    bool full = replayer->found_count == FOUND_MAX;
    pthread_mutex_unlock(&replayer->mutex);
    return full;
}

static void hand_over(Replayer *replayer, const Replayed *replayed) {
    pthread_mutex_lock(&replayer->mutex);
    replayer->found[replayer->found_count++] = *replayed;
    pthread_mutex_unlock(&replayer->mutex);
}

// Replays the chosen batches among the new ones. Each has its own transaction, so that none stays
// open for long. It stops early if the loop has not taken the earlier results.
static void look_around(void *arg) {
    Replayer *replayer = arg;
    while (!is_full(replayer) && !background_is_stopping(replayer->thread)) {
        SqlReplayNext batch scope(sql_row_free) = {0};
        Replayed replayed;
        Error err;
        if (!db_begin(replayer->db, &err))
            return;
        bool more = next_batch(replayer, &batch);
        db_rollback(replayer->db);
        if (!more)
            return;
        if (!note_begun(replayer, batch.id)) {
            replayer->last = batch.id - 1;
            return;
        }
        look_at(replayer->data, &batch, &replayed);
        hand_over(replayer, &replayed);
    }
}

static void replayer_free(Replayer *replayer) {
    db_close(replayer->db);
    db_close(replayer->notes);
    pthread_mutex_destroy(&replayer->mutex);
    free(replayer);
}

Replayer *replayer_start(const char *data, Error *err) {
    Replayer *replayer = xcalloc(1, sizeof *replayer);
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    replayer->data = data;
    pthread_mutex_init(&replayer->mutex, NULL);
    replayer->db = db_open(path, true, err);
    replayer->notes = replayer->db ? db_open(path, false, err) : NULL;
    bool good = replayer->notes != NULL;
    if (good)
        replayer->last = sql_replay_last(replayer->db, 0, CATCH_UP_BATCHES);
    good = good && background_start(&replayer->thread, look_around, replayer, LOOK_EVERY_S, err);
    if (good)
        return replayer;
    replayer_free(replayer);
    return NULL;
}

int replayer_take(Replayer *replayer, Replayed *out, int max) {
    pthread_mutex_lock(&replayer->mutex);
    int count = replayer->found_count < max ? replayer->found_count : max;
    memcpy(out, replayer->found, (size_t)count * sizeof *out);
    replayer->found_count -= count;
    memmove(replayer->found, replayer->found + count, (size_t)replayer->found_count * sizeof *out);
    pthread_mutex_unlock(&replayer->mutex);
    if (count)
        background_wake(replayer->thread);
    return count;
}

// At a normal end of the server: removes the notes of batches whose results the loop has not taken.
// The next server replays them again.
static void forget_begun(Replayer *replayer) {
    Error err;
    if (!db_begin(replayer->notes, &err) || !sql_replays_ended(replayer->notes, &err) ||
        !db_commit(replayer->notes, &err))
        log_warn("the note of the last batch cannot be removed: %s", err.message);
}

void replayer_stop(Replayer *replayer) {
    if (!replayer)
        return;
    background_stop(replayer->thread);
    forget_begun(replayer);
    replayer_free(replayer);
}
