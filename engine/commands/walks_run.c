// The walks are searched in chunks. A thread takes the lowest chunk that is missing, and notes for
// each walk of it whether its exit passed: a bit that depends on nothing but the walk's number,
// because every search begins with an empty memory. Behind the threads the chunks are collected in
// the order of their numbers. There an exit that an earlier walk reached is left out, and the book
// is complete when it has its count; what was searched beyond is thrown away.
//
// The file of progress has a header, the SHA-256 of the recipe, and a place for each chunk: its
// bits and their checksum. A chunk that was half written when the power failed is searched again.
#include "commands/walks_run.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/checksum.h"
#include "book/key_set.h"
#include "book/walk.h"
#include "search/search.h"

enum {
    CHUNK_WALKS = 4096,
    CHUNK_BYTES = CHUNK_WALKS / 8,
    CHUNKS_MAX = 1 << 16, // 268 million walks: no window of scores is that narrow
    HEADER_SIZE = SHA256_TEXT_SIZE,
    PLACE_SIZE = CHUNK_BYTES + 4,
    REPORT_CHUNKS = 50,
};

typedef struct WalksRun {
    const WalksPlan *plan;
    Walks *out;
    int file;                    // of the progress; -1: none
    pthread_mutex_t lock;        // protects everything below
    uint8_t *chunks[CHUNKS_MAX]; // new; NULL: not searched yet
    bool taken[CHUNKS_MAX];
    int collected; // chunks
    uint32_t found;
    KeySet known;
    bool is_over, has_failed;
    Refusal err;
} WalksRun;

// ---- one walk -----------------------------------------------------------------------------------

static bool walk_passes(Search *search, const WalksRecipe *recipe, uint32_t number) {
    Root root;
    Position pos;
    if (!walk_exit(number, &pos))
        return false;
    root_init(&root, &pos);
    SearchLimits limits = {.nodes = recipe->nodes};
    search_clear(search);
    search_prepare(search, &root, &limits);
    Score score = search_run(search).score;
    uint32_t edge = (uint32_t)(score < 0 ? -score : score);
    return edge >= recipe->low && edge <= recipe->high;
}

static void chunk_search(Search *search, const WalksRecipe *recipe, int chunk,
                         uint8_t bits[CHUNK_BYTES]) {
    memset(bits, 0, CHUNK_BYTES);
    for (int i = 0; i < CHUNK_WALKS; i++)
        if (walk_passes(search, recipe, (uint32_t)(chunk * CHUNK_WALKS + i)))
            bits[i / 8] |= (uint8_t)(1 << i % 8);
}

// ---- collecting ---------------------------------------------------------------------------------

static void run_fail(WalksRun *run) {
    run->is_over = run->has_failed = true;
}

// The next opening of the book is the exit of this walk.
static void number_add(WalksRun *run, uint32_t number) {
    const Walks *like = run->plan->like;
    if (like && like->numbers[run->found] != number) {
        refused(&run->err,
                "opening %u is walk %u, and not walk %u: this engine judges positions otherwise "
                "than the engine that made the book",
                run->found + 1, number, like->numbers[run->found]);
        run_fail(run);
        return;
    }
    run->out->numbers[run->found++] = number;
    if (run->found == run->plan->recipe.count) {
        run->out->recipe.walks = number + 1;
        run->is_over = true;
    }
}

static void chunk_collect(WalksRun *run, int chunk) {
    for (int i = 0; i < CHUNK_WALKS && !run->is_over; i++) {
        Position pos;
        uint32_t number = (uint32_t)(chunk * CHUNK_WALKS + i);
        if (run->chunks[chunk][i / 8] >> i % 8 & 1 && walk_exit(number, &pos) &&
            key_set_add(&run->known, pos.key))
            number_add(run, number);
    }
    if ((chunk + 1) % REPORT_CHUNKS == 0 || run->is_over)
        fprintf(stderr, "walks: %u openings of %u in %d walks\n", run->found,
                run->plan->recipe.count, (chunk + 1) * CHUNK_WALKS);
}

// The caller holds the lock.
static void chunks_collect(WalksRun *run) {
    while (!run->is_over && run->collected < CHUNKS_MAX && run->chunks[run->collected])
        chunk_collect(run, run->collected++);
    if (!run->is_over && run->collected == CHUNKS_MAX) {
        refused(&run->err, "%d walks have only %u openings", CHUNKS_MAX * CHUNK_WALKS, run->found);
        run_fail(run);
    }
}

// ---- the file of progress -----------------------------------------------------------------------

static off_t place_of(int chunk) {
    return HEADER_SIZE + (off_t)chunk * PLACE_SIZE;
}

static bool chunk_save(WalksRun *run, int chunk) {
    uint8_t place[PLACE_SIZE];
    memcpy(place, run->chunks[chunk], CHUNK_BYTES);
    uint32_t sum = checksum_crc32(0, place, CHUNK_BYTES);
    for (int i = 0; i < 4; i++)
        place[CHUNK_BYTES + i] = (uint8_t)(sum >> 8 * i);
    if (run->file < 0 || pwrite(run->file, place, PLACE_SIZE, place_of(chunk)) == PLACE_SIZE)
        return true;
    return refused(&run->err, "cannot write %s: %s", run->plan->progress, strerror(errno));
}

static void chunks_load(WalksRun *run) {
    uint8_t place[PLACE_SIZE];
    for (int chunk = 0; chunk < CHUNKS_MAX; chunk++) {
        if (pread(run->file, place, PLACE_SIZE, place_of(chunk)) != PLACE_SIZE)
            return;
        uint32_t sum = 0;
        for (int i = 0; i < 4; i++)
            sum |= (uint32_t)place[CHUNK_BYTES + i] << 8 * i;
        if (sum != checksum_crc32(0, place, CHUNK_BYTES))
            continue;
        run->chunks[chunk] = malloc(CHUNK_BYTES);
        if (run->chunks[chunk])
            memcpy(run->chunks[chunk], place, CHUNK_BYTES);
    }
}

static void recipe_digest(const WalksRecipe *recipe, char out[SHA256_TEXT_SIZE]) {
    char text[WALKS_LINE_MAX];
    // The count is no part of it: a longer book has the same chunks.
    int size = snprintf(text, sizeof text, "nodes=%u low=%u high=%u net=%s", recipe->nodes,
                        recipe->low, recipe->high, recipe->net);
    sha256_text(text, (size_t)size, out);
}

static bool progress_open(WalksRun *run, Refusal *err) {
    char header[HEADER_SIZE] = "", wanted[HEADER_SIZE];
    const char *path = run->plan->progress;
    run->file = -1;
    if (!path)
        return true;
    run->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (run->file < 0)
        return refused(err, "cannot open %s: %s", path, strerror(errno));
    if (flock(run->file, LOCK_EX | LOCK_NB) < 0)
        return refused(err, "%s is in use by another run", path);
    recipe_digest(&run->plan->recipe, wanted);
    ssize_t size = pread(run->file, header, HEADER_SIZE, 0);
    if (size == 0 && pwrite(run->file, wanted, HEADER_SIZE, 0) == HEADER_SIZE)
        return true;
    if (size != HEADER_SIZE || memcmp(header, wanted, HEADER_SIZE) != 0)
        return refused(err, "%s belongs to a book with another window, nodes or net", path);
    chunks_load(run);
    return true;
}

// ---- threads ------------------------------------------------------------------------------------

// The lowest chunk that no thread has begun; -1: none is wanted any more.
static int chunk_take(WalksRun *run) {
    int chunk = run->collected;
    while (chunk < CHUNKS_MAX && (run->chunks[chunk] || run->taken[chunk]))
        chunk++;
    if (run->is_over || chunk == CHUNKS_MAX)
        return -1;
    run->taken[chunk] = true;
    return chunk;
}

static void *searcher_main(void *context) {
    WalksRun *run = context;
    Search *search = search_new(1, 1);
    pthread_mutex_lock(&run->lock);
    for (int chunk; (chunk = chunk_take(run)) >= 0;) {
        pthread_mutex_unlock(&run->lock);
        uint8_t *bits = malloc(CHUNK_BYTES);
        if (bits)
            chunk_search(search, &run->plan->recipe, chunk, bits);
        pthread_mutex_lock(&run->lock);
        run->chunks[chunk] = bits;
        if (!bits && !run->has_failed)
            refused(&run->err, "out of memory");
        if (!bits || (!run->has_failed && !chunk_save(run, chunk)))
            run_fail(run);
        chunks_collect(run);
    }
    pthread_mutex_unlock(&run->lock);
    search_free(search);
    return NULL;
}

static void threads_run(WalksRun *run) {
    pthread_t threads[SEARCH_THREADS_MAX];
    int count = 0;
    while (count < run->plan->threads &&
           pthread_create(&threads[count], NULL, searcher_main, run) == 0)
        count++;
    if (count == 0)
        searcher_main(run);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

// ---- the run ------------------------------------------------------------------------------------

static void run_release(WalksRun *run) {
    for (int i = 0; i < CHUNKS_MAX; i++)
        free(run->chunks[i]);
    if (run->file >= 0)
        close(run->file);
    key_set_release(&run->known);
    free(run);
}

static bool run_all(WalksRun *run, Refusal *err) {
    if (!progress_open(run, err))
        return false;
    chunks_collect(run);
    threads_run(run);
    if (run->has_failed)
        return refused(err, "%s", run->err.message);
    size_t size;
    char *text = walks_print(run->out->numbers, run->found, &size);
    if (!text)
        return refused(err, "out of memory");
    sha256_text(text, size, run->out->recipe.book);
    free(text);
    return true;
}

bool walks_run(const WalksPlan *plan, Walks *out, Refusal *err) {
    uint32_t count = plan->recipe.count;
    *out = (Walks){plan->recipe, calloc(count, sizeof *out->numbers)};
    WalksRun *run = calloc(1, sizeof *run);
    if (!out->numbers || !run || !key_set_init(&run->known, count)) {
        free(run);
        return refused(err, "out of memory");
    }
    run->plan = plan;
    run->out = out;
    pthread_mutex_init(&run->lock, NULL);
    rules_init();
    bool is_good = run_all(run, err);
    run_release(run);
    return is_good;
}
