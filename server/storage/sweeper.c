// See sweeper.h.
#include "server/storage/sweeper.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "server/db/db.h"
#include "server/storage/blob.h"

enum { LOOK_EVERY_S = 600, YOUNG_S = 3600 };

struct Sweeper {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stopping, wanted, behind;
    Db *db; // the thread's own
    const char *data;
};

// What one look around has come to.
typedef struct Sweep {
    Sweeper *sweeper;
    double older_than;
    int64_t count, bytes, young; // young: dropped games that were left for later
} Sweep;

static bool is_stopping(Sweeper *sweeper) {
    pthread_mutex_lock(&sweeper->mutex);
    bool stopping = sweeper->stopping;
    pthread_mutex_unlock(&sweeper->mutex);
    return stopping;
}

// In doubt, as when the database cannot be read, a blob is named.
static void sweep_blob(Sweep *sweep, const char *sha) {
    enum { UNKNOWN, NAMED, DROPPED }; // as the query has it
    int64_t size, standing = db_int(sweep->sweeper->db, SQL_BLOB_STANDING, NAMED, "s", sha);
    if (standing == NAMED || db_failed(sweep->sweeper->db))
        return;
    switch (blob_remove_older(sweep->sweeper->data, sha, sweep->older_than, &size)) {
    case BLOB_REMOVED:
        sweep->count++;
        sweep->bytes += size;
        return;
    case BLOB_YOUNG:
        sweep->young += standing == DROPPED;
        return;
    case BLOB_GONE:
        return;
    }
}

static void sweep_folder(Sweep *sweep, int number) {
    char *path scope(free_ptr) = xasprintf("%s/blobs/%02x", sweep->sweeper->data, number);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (sha256_is_hex(entry->d_name))
            sweep_blob(sweep, entry->d_name);
    if (folder)
        closedir(folder);
}

static void sweep_all(Sweeper *sweeper) {
    Error err;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    Sweep sweep = {.sweeper = sweeper, .older_than = (double)now.tv_sec - YOUNG_S};
    for (int i = 0; i < 256 && !is_stopping(sweeper); i++) {
        // One short transaction a folder, which also clears what failed before.
        if (db_begin(sweeper->db, &err))
            sweep_folder(&sweep, i);
        db_rollback(sweeper->db);
    }
    if (sweep.count)
        log_info("%lld blobs (%.1f MiB) that nothing names were removed", (long long)sweep.count,
                 (double)sweep.bytes / (1 << 20));
    pthread_mutex_lock(&sweeper->mutex);
    sweeper->behind = sweep.young > 0;
    pthread_mutex_unlock(&sweeper->mutex);
}

static void rest(Sweeper *sweeper) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOOK_EVERY_S;
    pthread_mutex_lock(&sweeper->mutex);
    while (!sweeper->stopping && !sweeper->wanted)
        if (pthread_cond_timedwait(&sweeper->wake, &sweeper->mutex, &until))
            break;
    sweeper->wanted = false;
    pthread_mutex_unlock(&sweeper->mutex);
}

static void *sweeper_main(void *arg) {
    Sweeper *sweeper = arg;
    while (!is_stopping(sweeper)) {
        sweep_all(sweeper);
        rest(sweeper);
    }
    return NULL;
}

static void sweeper_free(Sweeper *sweeper) {
    db_close(sweeper->db);
    pthread_cond_destroy(&sweeper->wake);
    pthread_mutex_destroy(&sweeper->mutex);
    free(sweeper);
}

Sweeper *sweeper_start(const char *data, Error *err) {
    Sweeper *sweeper = xcalloc(1, sizeof *sweeper);
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    sweeper->data = data;
    sweeper->behind = true;
    pthread_mutex_init(&sweeper->mutex, NULL);
    pthread_cond_init(&sweeper->wake, NULL);
    sweeper->db = db_open(path, true, err);
    bool good = sweeper->db != NULL;
    if (good && pthread_create(&sweeper->thread, NULL, sweeper_main, sweeper))
        good = error_set(err, 0, "", "cannot start the thread that removes blobs");
    if (good)
        return sweeper;
    sweeper_free(sweeper);
    return NULL;
}

void sweeper_wake(Sweeper *sweeper) {
    pthread_mutex_lock(&sweeper->mutex);
    sweeper->wanted = true;
    sweeper->behind = true;
    pthread_cond_signal(&sweeper->wake);
    pthread_mutex_unlock(&sweeper->mutex);
}

bool sweeper_is_behind(Sweeper *sweeper) {
    pthread_mutex_lock(&sweeper->mutex);
    bool behind = sweeper->behind || sweeper->wanted;
    pthread_mutex_unlock(&sweeper->mutex);
    return behind;
}

void sweeper_stop(Sweeper *sweeper) {
    if (!sweeper)
        return;
    pthread_mutex_lock(&sweeper->mutex);
    sweeper->stopping = true;
    pthread_cond_broadcast(&sweeper->wake);
    pthread_mutex_unlock(&sweeper->mutex);
    pthread_join(sweeper->thread, NULL);
    sweeper_free(sweeper);
}
