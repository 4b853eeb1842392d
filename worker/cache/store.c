// See store.h.
#include "worker/cache/store.h"

#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/common/str.h"
#include "worker/os/host.h"

enum { INSTANCES_MAX = 64 };

// Folders without rights are entered only by a later walk, hence store_clear's repetition.
static int unlock_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)ftw;
    if (type == FTW_D || type == FTW_DNR || S_ISDIR(st->st_mode))
        chmod(path, 0700);
    return 0;
}

enum { CLEAR_WALKS_MAX = 256, CLEAR_DESCRIPTORS = 32 };

bool store_clear(const char *path, Error *err) {
    for (int i = 0; i < CLEAR_WALKS_MAX; i++) {
        if (folder_remove(path, err))
            return true;
        nftw(path, unlock_entry, CLEAR_DESCRIPTORS, FTW_PHYS | FTW_MOUNT);
    }
    return false;
}

static bool make_folders(const Store *store, Error *err) {
    static const char *const names[] = {"blobs", "builds"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path scope(free_ptr) = xasprintf("%s/%s", store->root, names[i]);
        if (!folder_make(path, err))
            return false;
    }
    char *work scope(free_ptr) = store_work(store, "");
    return store_clear(work, err) && folder_make(work, err);
}

// False with err->code "locked" when another worker holds that number.
static bool take_instance(Store *store, int number, Error *err) {
    char *path scope(free_ptr) = xasprintf("%s/%d", store->root, number);
    char *lock scope(free_ptr) = xasprintf("%s/lock", path);
    if (!folder_make(path, err) || (store->lock = os_lock_file(lock, err)) < 0)
        return false;
    store->number = number;
    store->instance = xstrdup(path);
    return true;
}

// ---- what is in use -----------------------------------------------------------------------------

struct StoreHolds {
    int *locks;
    int count;
};

bool store_hold(const Store *store, const char *path) {
    struct StoreHolds *holds = store->holds;
    int lock = os_use(path);
    if (lock < 0)
        return false;
    holds->locks = xrealloc(holds->locks, (size_t)(holds->count + 1) * sizeof *holds->locks);
    holds->locks[holds->count++] = lock;
    return true;
}

void store_let_go(const Store *store) {
    struct StoreHolds *holds = store->holds;
    for (int i = 0; i < holds->count; i++)
        close_fd(&holds->locks[i]);
    holds->count = 0;
}

// ---- the store ----------------------------------------------------------------------------------

bool store_open(Store *store, const char *root, Error *err) {
    *store = (Store){.lock = -1, .holds = xcalloc(1, sizeof *store->holds)};
    if (!folder_make(root, err))
        return false;
    store->root = realpath(root, NULL);
    if (!store->root)
        return error_errno(err, "cannot use folder %s", root);
    for (int number = 1; number <= INSTANCES_MAX; number++) {
        if (take_instance(store, number, err)) {
            folder_sweep(store->root);
            return make_folders(store, err);
        }
        if (strcmp(err->code, "locked") != 0)
            return false;
    }
    return error_set(err, 0, "locked", "%d workers run in %s already", INSTANCES_MAX, root);
}

void store_close(Store *store) {
    store_let_go(store);
    free(store->holds->locks);
    free(store->holds);
    close_fd(&store->lock);
    free(store->root);
    free(store->instance);
    *store = (Store){.lock = -1};
}

char *store_blob(const Store *store, const char *sha256) {
    return xasprintf("%s/blobs/%s", store->root, sha256);
}

char *store_build(const Store *store, const char *key) {
    return xasprintf("%s/builds/%s", store->root, key);
}

char *store_work(const Store *store, const char *name) {
    return xasprintf("%s/work%s%s", store->instance, *name ? "/" : "", name);
}

json_t *store_blobs(const Store *store, int max) {
    json_t *list = json_array();
    char *path scope(free_ptr) = store_blob(store, "");
    DIR *dir = opendir(path);
    if (!dir)
        return list;
    for (struct dirent *entry; (entry = readdir(dir)) && (int)json_array_size(list) < max;)
        if (sha256_is_hex(entry->d_name))
            json_array_append_new(list, json_string(entry->d_name));
    closedir(dir);
    return list;
}
