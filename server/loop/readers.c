// See readers.h.
#include "server/loop/readers.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/common/clock.h"
#include "server/common/log.h"
#include "server/loop/identify.h"

enum { READERS_MAX = 64 };

// A thread and the connection that it alone uses, until it has been joined.
typedef struct Reader {
    Readers *readers;
    Db *db;
    pthread_t thread;
} Reader;

struct Readers {
    int event_fd;
    const atomic_ulong *commits;
    pthread_mutex_t mutex;
    pthread_cond_t work;
    JobQueue queued;
    RequestList finished;
    bool stopping;
    int count;
    Reader reader[READERS_MAX];
};

// A request sees the database as it is when the reader begins with it. Opening the body and
// checking the CSRF token need the whole body, so they happen here or, without `prepare`, in the
// turn.
static void prepare_one(Db *db, RequestData *data, unsigned long version) {
    Error err = {0};
    Turn turn = {.db = db, .now = time_now()};
    data->req.turn = &turn;
    data->version = version;
    data->opened = true;
    bool good = db_begin(db, &err) && request_open_body(data, &err) &&
                viewer_check_csrf(data, &err) && data->route->prepare(&data->req, &data->res, &err);
    if (db_failed(db))
        good = error_set(&err, 503, "unavailable", "the database cannot be read at the moment");
    if (!good)
        request_refuse(data, &err);
    data->stage = good && data->route->apply ? STAGE_APPLY : STAGE_REPLY;
    db_rollback(db);
    data->req.turn = NULL;
}

// The next part of a long reply. The client sees that the reply was broken off; the log says why.
static void part_one(Db *db, RequestData *data) {
    Error err = {0};
    Turn turn = {.db = db, .now = time_now()};
    data->req.turn = &turn;
    str_clear(&data->res.body);
    bool good = db_begin(db, &err) && data->res.more(&data->req, &data->res, &err);
    if (db_failed(db))
        good = error_set(&err, 503, "unavailable", "the database cannot be read at the moment");
    if (!good)
        log_warn("the reply to %s is broken off: %s", data->path, err.message);
    data->cut = !good;
    data->stage = STAGE_SEND;
    db_rollback(db);
    data->req.turn = NULL;
}

static void *reader_main(void *arg) {
    const Reader *reader = arg;
    Readers *readers = reader->readers;
    pthread_mutex_lock(&readers->mutex);
    for (;;) {
        Job *job = NULL;
        while (!readers->stopping && !(job = queue_pop(&readers->queued)))
            pthread_cond_wait(&readers->work, &readers->mutex);
        if (readers->stopping)
            break;
        RequestData *data = job->request;
        pthread_mutex_unlock(&readers->mutex);
        // The number of commits is read first, so that it is not newer than the data.
        if (data->stage == STAGE_PART)
            part_one(reader->db, data);
        else
            prepare_one(reader->db, data, atomic_load(readers->commits));
        pthread_mutex_lock(&readers->mutex);
        queue_done(&readers->queued, job);
        bool first = !readers->finished.first; // the loop takes all of them at once
        list_push(&readers->finished, data);
        uint64_t one = 1;
        if (first && write(readers->event_fd, &one, sizeof one) < 0)
            log_warn("cannot wake the loop");
    }
    pthread_mutex_unlock(&readers->mutex);
    return NULL;
}

Readers *readers_start(const char *data, int count, int event_fd, const atomic_ulong *commits,
                       Error *err) {
    Readers *readers = xcalloc(1, sizeof *readers);
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    readers->event_fd = event_fd;
    readers->commits = commits;
    readers->queued.running_max = count > 4 ? count / 4 : 1;
    pthread_mutex_init(&readers->mutex, NULL);
    pthread_cond_init(&readers->work, NULL);
    for (int i = 0; i < count && i < READERS_MAX; i++) {
        Reader *reader = &readers->reader[i];
        *reader = (Reader){.readers = readers, .db = db_open(path, true, err)};
        if (!reader->db || pthread_create(&reader->thread, NULL, reader_main, reader)) {
            if (reader->db)
                error_set(err, 0, "", "cannot start reader threads");
            db_close(reader->db);
            readers_stop(readers);
            readers_free(readers);
            return NULL;
        }
        readers->count++;
    }
    return readers;
}

RequestData *readers_push(Readers *readers, RequestData *data) {
    RequestData *refused = NULL;
    pthread_mutex_lock(&readers->mutex);
    if (readers->stopping)
        refused = data;
    else {
        queue_push(&readers->queued, &data->job);
        pthread_cond_signal(&readers->work);
        if (readers->queued.count > READERS_QUEUE_MAX)
            refused = queue_drop(&readers->queued)->request;
    }
    pthread_mutex_unlock(&readers->mutex);
    return refused;
}

RequestList readers_take(Readers *readers) {
    pthread_mutex_lock(&readers->mutex);
    RequestList taken = readers->finished;
    readers->finished = (RequestList){0};
    while (readers->stopping && readers->queued.count)
        list_push(&taken, queue_drop(&readers->queued)->request);
    pthread_mutex_unlock(&readers->mutex);
    return taken;
}

size_t readers_queued(Readers *readers) {
    pthread_mutex_lock(&readers->mutex);
    size_t count = readers->queued.count;
    pthread_mutex_unlock(&readers->mutex);
    return count;
}

void readers_stop(Readers *readers) {
    pthread_mutex_lock(&readers->mutex);
    readers->stopping = true;
    pthread_cond_broadcast(&readers->work);
    pthread_mutex_unlock(&readers->mutex);
    for (int i = 0; i < readers->count; i++) {
        pthread_join(readers->reader[i].thread, NULL);
        db_close(readers->reader[i].db);
    }
    readers->count = 0;
}

void readers_free(Readers *readers) {
    pthread_cond_destroy(&readers->work);
    pthread_mutex_destroy(&readers->mutex);
    free(readers);
}
