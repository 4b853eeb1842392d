// See trim.h. A build leaves by a rename into this worker's own work folder, so no worker ever sees
// half of one.
#include "worker/cache/trim.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/str.h"
#include "worker/os/host.h"

typedef struct Item {
    char *path;
    int64_t bytes, used_ns;
    bool is_folder;
} Item;

typedef struct Items {
    Item *rows;
    int count;
    int64_t bytes;
} Items;

static void items_release(Items *items) {
    for (int i = 0; i < items->count; i++)
        free(items->rows[i].path);
    free(items->rows);
}

static int64_t disk_bytes(const struct stat *st) {
    return (int64_t)st->st_blocks * 512;
}

// A build is a binary, and below it the files that were placed for it.
static int64_t folder_bytes(const char *path) {
    int64_t sum = 0;
    char *const tops[] = {(char *)path, NULL};
    FTS *walk = fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *at; walk && (at = fts_read(walk));)
        if (at->fts_info == FTS_F)
            sum += disk_bytes(at->fts_statp);
    if (walk)
        fts_close(walk);
    return sum;
}

static void add_item(Items *items, const char *path) {
    struct stat st;
    if (lstat(path, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return;
    bool is_folder = S_ISDIR(st.st_mode);
    Item item = {.path = xstrdup(path),
                 .bytes = disk_bytes(&st) + (is_folder ? folder_bytes(path) : 0),
                 .used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
                 .is_folder = is_folder};
    items->rows = xrealloc(items->rows, (size_t)(items->count + 1) * sizeof *items->rows);
    items->rows[items->count++] = item;
    items->bytes += item.bytes;
}

static void add_items(Items *items, const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char *path scope(free_ptr) = xasprintf("%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            add_item(items, path);
    }
    closedir(dir);
}

static int oldest_first(const void *a, const void *b) {
    const Item *x = a, *y = b;
    return (x->used_ns > y->used_ns) - (x->used_ns < y->used_ns);
}

// In use, or gone meanwhile: neither is an error. Returns whether it was removed.
static bool remove_item(const Store *store, const Item *item, Error *err) {
    int lock scope(close_fd) = os_seize(item->path);
    if (lock < 0)
        return false;
    if (!item->is_folder)
        return unlink(item->path) == 0 || error_errno(err, "cannot remove %s", item->path);
    char *away scope(free_ptr) = store_work(store, "trimmed");
    if (!store_clear(away, err))
        return false;
    if (rename(item->path, away) < 0)
        return error_errno(err, "cannot remove %s", item->path);
    return store_clear(away, err);
}

bool trim_store(const Store *store, int64_t max_bytes, int64_t room, Trim *out) {
    scope(items_release) Items items = {0};
    char *blobs scope(free_ptr) = store_blob(store, "");
    char *builds scope(free_ptr) = store_build(store, "");
    *out = (Trim){.free = os_disk_free(store->root)};
    add_items(&items, blobs);
    add_items(&items, builds);
    if (items.count)
        qsort(items.rows, (size_t)items.count, sizeof *items.rows, oldest_first);
    out->bytes = items.bytes;
    for (int i = 0; i < items.count; i++) {
        const Item *item = &items.rows[i];
        if (out->bytes <= max_bytes && (out->free < 0 || out->free >= room))
            break;
        if (!remove_item(store, item, &out->error))
            continue;
        out->removed++;
        out->removed_bytes += item->bytes;
        out->bytes -= item->bytes;
        out->free = os_disk_free(store->root);
    }
    return out->bytes <= max_bytes && (out->free < 0 || out->free >= room);
}
