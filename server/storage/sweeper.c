// See sweeper.h.
#include "server/storage/sweeper.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "server/common/background.h"
#include "server/common/clock.h"
#include "server/common/hash.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "server/db/db.h"
#include "server/storage/blob.h"
#include "sql/core.h"

enum { LOOK_EVERY_S = 600, YOUNG_S = 3600 };

struct Sweeper {
    Background *thread;
    atomic_int asked, done; // how often a sweep was requested, and the last request that was done
    Db *db;                 // the thread's own
    const char *data;
};

// The results of one sweep.
typedef struct Sweep {
    Sweeper *sweeper;
    double older_than;
    int64_t count, bytes, young; // young: dropped games that were left for later
} Sweep;

// A blob counts as named if the answer is not known, for example when the database cannot be read.
static void sweep_blob(Sweep *sweep, const char *sha) {
    enum { UNKNOWN, NAMED, DROPPED }; // the values of the query
    int64_t size, standing = sql_blob_standing(sweep->sweeper->db, NAMED, sha);
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

static void sweep_all(void *arg) {
    Sweeper *sweeper = arg;
    Error err;
    int asked = atomic_load(&sweeper->asked);
    Sweep sweep = {.sweeper = sweeper, .older_than = time_now() - YOUNG_S};
    for (int i = 0; i < 256 && !background_is_stopping(sweeper->thread); i++) {
        // One short transaction for each folder. Its end also clears an earlier failure.
        if (db_begin(sweeper->db, &err))
            sweep_folder(&sweep, i);
        db_rollback(sweeper->db);
    }
    if (sweep.count)
        log_info("%lld blobs (%.1f MiB) that are not needed were removed", (long long)sweep.count,
                 (double)sweep.bytes / (1 << 20));
    atomic_store(&sweeper->done, sweep.young ? asked - 1 : asked);
}

Sweeper *sweeper_start(const char *data, Error *err) {
    Sweeper *sweeper = xcalloc(1, sizeof *sweeper);
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    sweeper->data = data;
    sweeper->asked = 1;
    sweeper->db = db_open(path, true, err);
    if (sweeper->db && background_start(&sweeper->thread, sweep_all, sweeper, LOOK_EVERY_S, err))
        return sweeper;
    sweeper_stop(sweeper);
    return NULL;
}

void sweeper_wake(Sweeper *sweeper) {
    atomic_fetch_add(&sweeper->asked, 1);
    background_wake(sweeper->thread);
}

bool sweeper_is_behind(Sweeper *sweeper) {
    return atomic_load(&sweeper->done) != atomic_load(&sweeper->asked);
}

void sweeper_stop(Sweeper *sweeper) {
    if (!sweeper)
        return;
    background_stop(sweeper->thread);
    db_close(sweeper->db);
    free(sweeper);
}
