// See match.h. Each slot is a thread that takes the next game from a counter. The two records of a
// pair are kept until both games have ended and every earlier pair has been reported.
#include "worker/match/match.h"
#include "worker/os/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/match/game.h"

enum { QUIT_PATIENCE_MS = 500 };

// A pair that is being played, or that waits until an earlier pair has been reported.
typedef struct Pending {
    struct Pending *next;
    int pair;
    bool ended[2];
    GameRecord games[2];
    GameNotes notes[2]; // of these games
} Pending;

struct Match {
    MatchSpec spec;
    int cancel_fd;
    atomic_bool finishing, aborted;
    atomic_bool *has_started; // of each engine: it has started once in this match
    atomic_uint_fast64_t plies;
    int64_t start_ns;
    OsCpuClaim *cpus;
    int cpus_per_slot;    // 0: slots are not pinned
    atomic_int next_game; // counts from 0 over all pairs; changed under the lock
    pthread_mutex_t lock; // of all members below, and of the callbacks
    Pending *first, *spare;
    bool failed;
    Error error;
};

typedef struct Slot {
    Match *match;
    pthread_t thread;
    int number;
    bool running;
    SlotContext context;
    GameRecord *copy; // of the game that is played on; NULL before the first
} Slot;

Match *match_new(const MatchSpec *spec) {
    Match *match = xcalloc(1, sizeof *match);
    match->spec = *spec;
    match->has_started = xcalloc((size_t)(spec->engine_count > 0 ? spec->engine_count : 1),
                                 sizeof *match->has_started);
    match->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (match->cancel_fd < 0)
        fatal("cannot make an eventfd");
    pthread_mutex_init(&match->lock, NULL);
    return match;
}

static void free_list(Pending *list) {
    while (list) {
        Pending *next = list->next;
        game_notes_release(&list->notes[0]);
        game_notes_release(&list->notes[1]);
        free(list);
        list = next;
    }
}

void match_free(Match *match) {
    if (!match)
        return;
    free_list(match->first);
    free_list(match->spare);
    close(match->cancel_fd);
    pthread_mutex_destroy(&match->lock);
    free(match->has_started);
    free(match);
}

void match_finish(Match *match) {
    atomic_store(&match->finishing, true);
}

void match_abort(Match *match) {
    int saved = errno;
    uint64_t one = 1;
    atomic_store(&match->aborted, true);
    // If the counter is full, the write fails, but the descriptor is readable as well.
    if (write(match->cancel_fd, &one, sizeof one) < 0)
        errno = saved;
    errno = saved;
}

uint64_t match_plies(const Match *match) {
    return atomic_load(&match->plies);
}

int match_next_pair(const Match *match) {
    int per_pair = match->spec.games_per_pair;
    return match->spec.pair_first + (atomic_load(&match->next_game) + per_pair - 1) / per_pair;
}

// ---- pairs --------------------------------------------------------------------------------------

static Pending *pending_new(Match *match, int pair) {
    Pending *pending = match->spare;
    if (pending) {
        match->spare = pending->next;
    } else {
        pending = xmalloc(sizeof *pending);
        game_notes_init(&pending->notes[0]);
        game_notes_init(&pending->notes[1]);
    }
    pending->pair = pair;
    pending->ended[0] = pending->ended[1] = false;
    pending->next = NULL;
    return pending;
}

// The entry of `pair` in the list, which is in the order of pairs. A new pair gets a new entry.
static Pending *pending_of(Match *match, int pair) {
    Pending **at = &match->first;
    while (*at && (*at)->pair < pair)
        at = &(*at)->next;
    if (!*at || (*at)->pair != pair)
        *at = pending_new(match, pair);
    return *at;
}

static void fill_players(const MatchSpec *spec, GameRecord *record) {
    static const MatchPairing usual = {0, 1};
    int pairings = spec->pairings ? spec->pairing_count : 1;
    const MatchPairing *pairing =
        spec->pairings ? &spec->pairings[record->pair % pairings] : &usual;
    record->players[0] = pairing->first;
    record->players[1] = pairing->second;
    record->white = spec->games_per_pair == 2 ? record->index : record->pair / pairings % 2;
    if (spec->no_swap)
        record->white = 0;
}

static int pairs_together(const MatchSpec *spec) {
    return spec->pairs_together > 0 ? spec->pairs_together : 1;
}

// The record of the next game to play, and its notes. NULL if no game is left. Called under the
// lock.
static GameRecord *next_game(Match *match, GameNotes **notes) {
    const MatchSpec *spec = &match->spec;
    int per_pair = spec->games_per_pair, number = atomic_load(&match->next_game);
    bool new_pair = number % per_pair == 0;
    if (atomic_load(&match->aborted) || number / per_pair >= spec->pair_count ||
        (new_pair && number / per_pair % pairs_together(spec) == 0 &&
         atomic_load(&match->finishing)))
        return NULL;
    atomic_store(&match->next_game, number + 1);
    int pair = spec->pair_first + number / per_pair, index = number % per_pair;
    Pending *pending = pending_of(match, pair);
    GameRecord *record = &pending->games[index];
    *notes = &pending->notes[index];
    record->pair = pair;
    record->index = index;
    record->infos = NULL;
    record->fault_report = NULL;
    fill_players(spec, record);
    return record;
}

static void report_pairs(Match *match) {
    while (match->first && match->first->ended[0] &&
           match->first->ended[match->spec.games_per_pair - 1]) {
        Pending *done = match->first;
        match->first = done->next;
        if (match->spec.on_pair)
            match->spec.on_pair(match->spec.ctx, done->pair, done->games);
        done->next = match->spare;
        match->spare = done;
    }
}

// Reports the games that have ended and that on_pair did not receive.
static void report_rest(Match *match) {
    for (const Pending *pending = match->first; pending; pending = pending->next)
        for (int i = 0; i < match->spec.games_per_pair; i++)
            if (pending->ended[i] && match->spec.on_rest)
                match->spec.on_rest(match->spec.ctx, &pending->games[i]);
}

// If a game was stopped, its pair is never complete, so neither it nor any later pair is reported.
static void report_game(Match *match, const GameRecord *record) {
    if (match->spec.on_game)
        match->spec.on_game(match->spec.ctx, record);
    if (record->kind == GAME_END_ABORTED)
        return;
    pending_of(match, record->pair)->ended[record->index] = true;
    report_pairs(match);
}

// ---- slots --------------------------------------------------------------------------------------

static void fail(Match *match, const Error *err) {
    if (!match->failed && !atomic_load(&match->aborted))
        match->error = *err;
    match->failed = true;
    match_abort(match);
}

static GameRecord *take_game(Match *match, GameNotes **notes) {
    pthread_mutex_lock(&match->lock);
    GameRecord *record = next_game(match, notes);
    if (record && match->spec.on_start)
        match->spec.on_start(match->spec.ctx, record);
    pthread_mutex_unlock(&match->lock);
    return record;
}

static void give_game(Match *match, const GameRecord *record, bool sound, const Error *err) {
    pthread_mutex_lock(&match->lock);
    if (sound)
        report_game(match, record);
    else if (match->spec.on_failure && record->culprit >= 0)
        match->spec.on_failure(match->spec.ctx, record);
    if (!sound)
        fail(match, err);
    pthread_mutex_unlock(&match->lock);
}

static void pin(const Slot *slot) {
    const Match *match = slot->match;
    Error err;
    int count = match->cpus_per_slot;
    if (count && !os_thread_pin(match->cpus->cpus.ids + slot->number * count, count, &err))
        log_warn("%s", err.message);
}

static void open_load(Slot *slot) {
    const Match *match = slot->match;
    int count = match->cpus_per_slot;
    load_open(&slot->context.load, count ? match->cpus->cpus.ids + slot->number * count : NULL,
              count);
}

// The pause between two games (-wait). It ends at once if the match is aborted.
static void rest(const Match *match) {
    struct pollfd cancel = {.fd = match->cancel_fd, .events = POLLIN};
    if (match->spec.rest_ms > 0)
        poll(&cancel, 1, match->spec.rest_ms);
}

// A copy of the record if its game is to be played on, else NULL. The record itself belongs to the
// next pair as soon as the game was reported.
static GameRecord *copy_to_play_on(Slot *slot, const GameRecord *record) {
    const MatchSpec *spec = &slot->match->spec;
    if (record->kind != GAME_END_ADJUDICATION || !spec->plays_on || !spec->on_played_on ||
        spec->engines[record->players[0]].restart || spec->engines[record->players[1]].restart ||
        !spec->plays_on(spec->ctx, record))
        return NULL;
    if (!slot->copy)
        slot->copy = xmalloc(sizeof *slot->copy);
    *slot->copy = *record;
    slot->copy->infos = NULL;
    return slot->copy;
}

static void play_on(Slot *slot, GameRecord *record) {
    Match *match = slot->match;
    PlayedOn played = {record, record->game.plies, record->result};
    match_game_play_on(&slot->context, record, PLAYED_ON_PLIES_MAX, &match->finishing);
    if (record->kind == GAME_END_ABORTED)
        return;
    pthread_mutex_lock(&match->lock);
    match->spec.on_played_on(match->spec.ctx, &played);
    pthread_mutex_unlock(&match->lock);
}

static void *slot_run(void *arg) {
    Slot *slot = arg;
    Match *match = slot->match;
    Error err = {0};
    os_thread_block_signals();
    pin(slot);
    open_load(slot);
    GameNotes *notes;
    for (GameRecord *record; (record = take_game(match, &notes)); rest(match)) {
        bool sound = match_game_play(&slot->context, record, notes, &err);
        GameRecord *copy = sound ? copy_to_play_on(slot, record) : NULL;
        give_game(match, record, sound, &err);
        if (copy)
            play_on(slot, copy);
    }
    slot_end(&slot->context, atomic_load(&match->aborted) ? 0 : QUIT_PATIENCE_MS);
    load_close(&slot->context.load);
    free(slot->copy);
    return NULL;
}

static void warn(void *owner, const GameRecord *game, const char *text) {
    Match *match = owner;
    pthread_mutex_lock(&match->lock);
    match->spec.on_warning(match->spec.ctx, game, text);
    pthread_mutex_unlock(&match->lock);
}

static bool slot_start(Slot *slot, Match *match, int number) {
    slot->match = match;
    slot->number = number;
    slot->context.spec = &match->spec;
    slot->context.cancel_fd = match->cancel_fd;
    slot->context.plies = &match->plies;
    slot->context.has_started = match->has_started;
    slot->context.warn = match->spec.on_warning ? warn : NULL;
    slot->context.owner = match;
    slot->context.log = (EngineLog){.on_line = match->spec.on_line,
                                    .ctx = match->spec.ctx,
                                    .slot = number,
                                    .start_ns = match->start_ns};
    slot->running = pthread_create(&slot->thread, NULL, slot_run, slot) == 0;
    return slot->running;
}

// Gives each slot CPUs of its own. If there are too few, no slot is pinned, because the scheduler
// then spreads the load better.
static void claim_cpus(Match *match) {
    const EngineSpec *engines = match->spec.engines;
    OsCpus allowed;
    int per_slot = 1;
    for (int i = 0; i < match->spec.engine_count; i++)
        per_slot = engines[i].threads > per_slot ? engines[i].threads : per_slot;
    match->cpus = xcalloc(1, sizeof *match->cpus);
    os_cpus_allowed(&allowed);
    if (match->spec.pin && match->spec.slots <= allowed.count / per_slot &&
        os_cpus_claim(match->cpus, &allowed, match->spec.slots * per_slot))
        match->cpus_per_slot = per_slot;
}

// The pipes and watches of two engines for each slot, one file for each thread of an engine, and
// the files that the program has open.
static long files_needed(const MatchSpec *spec) {
    enum { OTHERS = 64, ENGINE_FILES = 12 };
    long threads = 1;
    for (int i = 0; i < spec->engine_count; i++)
        threads = spec->engines[i].threads > threads ? spec->engines[i].threads : threads;
    return OTHERS + spec->slots * 2 * (ENGINE_FILES + threads);
}

bool match_run(Match *match, Error *err) {
    const char *problem = match_spec_problem(&match->spec);
    if (problem)
        return error_set(err, 422, "bad_match", "%s", problem);
    if (!os_files_allow(files_needed(&match->spec), err))
        return error_prefix(err, "%d games at a time", match->spec.slots);
    rules_init();
    match->start_ns = os_now_ns();
    claim_cpus(match);
    Slot *slots = xcalloc((size_t)match->spec.slots, sizeof *slots);
    for (int i = 0; i < match->spec.slots; i++)
        if (!slot_start(&slots[i], match, i)) {
            pthread_mutex_lock(&match->lock);
            error_errno(&match->error, "cannot start a thread for game slot %d", i + 1);
            match->failed = true;
            match_abort(match);
            pthread_mutex_unlock(&match->lock);
            break;
        }
    for (int i = 0; i < match->spec.slots; i++)
        if (slots[i].running)
            pthread_join(slots[i].thread, NULL);
    free(slots);
    report_rest(match);
    os_cpus_release(match->cpus);
    free(match->cpus);
    if (match->failed)
        *err = match->error;
    return !match->failed;
}
