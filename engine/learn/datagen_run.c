// The threads take the numbers of games in turn. Finished games wait in a ring buffer until all
// earlier games are on disk. The files are therefore the same, whichever thread plays a game.
#include "learn/datagen_run.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "learn/chunks.h"
#include "learn/meter.h"
#include "rules/error.h"

// A thread that is this many games ahead of the slowest thread waits.
enum { RING_SIZE = 4096 };

typedef struct Finished {
    uint8_t *bytes; // new; NULL: not finished yet
    size_t size;
    uint64_t number;
    int plies;
} Finished;

typedef struct DatagenRun {
    const DatagenPlan *plan;
    atomic_bool stop;
    atomic_int playing;   // threads that have not ended
    pthread_mutex_t lock; // protects everything below
    pthread_cond_t room;  // signalled when the ring has room or the run ends
    Chunks chunks;
    uint64_t next;            // number of the game that is taken next
    uint64_t taken, written;  // number of games of this run that were begun, and that are on disk
    uint64_t positions;       // on disk
    Finished ring[RING_SIZE]; // the nth game of this run is at n % RING_SIZE
    bool has_failed;
    Refusal err;
} DatagenRun;

typedef struct SelfPlayer {
    DatagenRun *run;
    pthread_t thread;
    Selfplay selfplay;
    GameFileRecord record;
    uint8_t bytes[GAMEFILE_RECORD_MAX];
} SelfPlayer;

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        fputs("anvil: datagen: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

// ---- the ring ----------------------------------------------------------------------------------

// Takes the next game. `*place` is its index among the games of this run, `*number` its number in
// the folder. False: no game is left to play.
static bool take(DatagenRun *run, uint64_t *place, uint64_t *number) {
    pthread_mutex_lock(&run->lock);
    while (!atomic_load(&run->stop) && run->next < run->plan->games &&
           run->taken - run->written >= RING_SIZE)
        pthread_cond_wait(&run->room, &run->lock);
    bool more = !atomic_load(&run->stop) && run->next < run->plan->games;
    if (more) {
        *place = run->taken++;
        *number = run->next;
        run->next = chunks_missing(&run->chunks, run->next + 1);
    }
    pthread_mutex_unlock(&run->lock);
    return more;
}

// Writes the finished games that no longer wait for an earlier one. The caller holds the lock.
static void write_finished(DatagenRun *run) {
    Finished *game;
    while ((game = &run->ring[run->written % RING_SIZE])->bytes) {
        if (!run->has_failed &&
            !chunks_append(&run->chunks, game->number, game->bytes, game->size, &run->err)) {
            run->has_failed = true;
            atomic_store(&run->stop, true);
        }
        run->positions += (uint64_t)game->plies;
        run->written++;
        free(game->bytes);
        game->bytes = NULL;
    }
}

static void put(DatagenRun *run, uint64_t place, uint64_t number, SelfPlayer *player) {
    size_t size = gamefile_write_game(&player->record, player->bytes);
    uint8_t *bytes = allocate(1, size);
    memcpy(bytes, player->bytes, size);
    pthread_mutex_lock(&run->lock);
    run->ring[place % RING_SIZE] = (Finished){bytes, size, number, player->record.plies};
    write_finished(run);
    pthread_cond_broadcast(&run->room);
    pthread_mutex_unlock(&run->lock);
}

// ---- players -----------------------------------------------------------------------------------

static void *player_main(void *context) {
    SelfPlayer *player = context;
    DatagenRun *run = player->run;
    uint64_t place, number;
    while (take(run, &place, &number) && selfplay_game(&player->selfplay, number, &player->record))
        put(run, place, number, player);
    atomic_fetch_sub(&run->playing, 1);
    return NULL;
}

static SelfPlayer *players_new(DatagenRun *run) {
    const DatagenPlan *plan = run->plan;
    SelfPlayer *players = allocate((size_t)plan->threads, sizeof *players);
    for (int i = 0; i < plan->threads; i++) {
        players[i].run = run;
        players[i].selfplay = (Selfplay){
            .rules = &plan->rules, .stop = &run->stop, .search = search_new(plan->hash_mb, 1)};
        search_set_network(players[i].selfplay.search, plan->net);
    }
    return players;
}

// Starts as many players as the system allows and returns their number.
static int players_begin(SelfPlayer *players, DatagenRun *run) {
    int count = 0, wanted = run->plan->threads;
    atomic_store(&run->playing, wanted);
    while (count < wanted &&
           pthread_create(&players[count].thread, NULL, player_main, &players[count]) == 0)
        count++;
    atomic_fetch_sub(&run->playing, wanted - count);
    return count;
}

static void players_end(SelfPlayer *players, int begun, int all) {
    for (int i = 0; i < begun; i++)
        pthread_join(players[i].thread, NULL);
    for (int i = 0; i < all; i++)
        search_free(players[i].selfplay.search);
    free(players);
}

// ---- the run -----------------------------------------------------------------------------------

static void run_init(DatagenRun *run, const DatagenPlan *plan) {
    run->plan = plan;
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->room, NULL);
    run->next = chunks_missing(&run->chunks, 0);
}

static void run_release(DatagenRun *run) {
    for (int i = 0; i < RING_SIZE; i++)
        free(run->ring[i].bytes);
    chunks_close(&run->chunks);
    pthread_cond_destroy(&run->room);
    pthread_mutex_destroy(&run->lock);
}

static void run_stop(DatagenRun *run) {
    pthread_mutex_lock(&run->lock);
    atomic_store(&run->stop, true);
    pthread_cond_broadcast(&run->room);
    pthread_mutex_unlock(&run->lock);
}

static void run_count(DatagenRun *run, uint64_t *games, uint64_t *positions) {
    pthread_mutex_lock(&run->lock);
    *games = run->written;
    *positions = run->positions;
    pthread_mutex_unlock(&run->lock);
}

static void signals_block(sigset_t *signals) {
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
}

// Waits until all players have ended, and shows the progress. After a stop it stops the searches
// again and again, because a search that is being set up does not notice the first time. True if a
// signal came.
static bool run_watch(DatagenRun *run, SelfPlayer *players, int count, const sigset_t *signals) {
    const struct timespec moment = {.tv_nsec = 50000000};
    uint64_t games, positions;
    bool is_interrupted = false;
    Meter meter;
    meter_init(&meter, stderr, chunks_present(&run->chunks), run->plan->games);
    while (atomic_load(&run->playing) > 0) {
        if (sigtimedwait(signals, NULL, &moment) > 0) {
            is_interrupted = true;
            run_stop(run);
        }
        for (int i = 0; i < count && atomic_load(&run->stop); i++)
            search_stop(players[i].selfplay.search);
        run_count(run, &games, &positions);
        meter_show(&meter, games, positions);
    }
    run_count(run, &games, &positions);
    meter_end(&meter, games, positions);
    return is_interrupted;
}

static DatagenEnd run_play(DatagenRun *run, Refusal *err) {
    sigset_t signals;
    signals_block(&signals);
    SelfPlayer *players = players_new(run);
    int count = players_begin(players, run);
    bool is_interrupted = run_watch(run, players, count, &signals);
    players_end(players, count, run->plan->threads);
    if (run->has_failed)
        *err = run->err;
    else if (count == 0)
        refused(err, "the system cannot start a thread");
    if (run->has_failed || count == 0)
        return DATAGEN_FAILED;
    bool is_done = run->next >= run->plan->games && run->written == run->taken;
    return is_interrupted && !is_done ? DATAGEN_INTERRUPTED : DATAGEN_DONE;
}

DatagenEnd datagen_run(const DatagenPlan *plan, Refusal *err) {
    DatagenRun *run = allocate(1, sizeof *run);
    DatagenEnd end = DATAGEN_FAILED;
    if (chunks_open(&run->chunks, plan->folder, &plan->header, plan->games, err)) {
        run_init(run, plan);
        end = run_play(run, err);
        run_release(run);
    }
    free(run);
    return end;
}
