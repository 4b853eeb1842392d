// See spool.h.
#include "spool.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../server/common/file.h"
#include "../server/common/log.h"
#include "../server/common/str.h"

enum { COUNTS_MAX = 1 << 16, GAMES_MAX = 8 << 20 };

void spool_item_free(SpoolItem *item) {
    if (!item)
        return;
    json_decref(item->counts);
    free(item->games);
    free(item);
}

static char *item_path(const char *folder, int64_t task, int seq, const char *suffix) {
    return xasprintf("%s/%010" PRId64 "-%06d.%s", folder, task, seq, suffix);
}

bool spool_write(const char *folder, const SpoolItem *item, Error *err) {
    char *games scope(free_ptr) = item_path(folder, item->task, item->seq, "games.zst");
    char *counts scope(free_ptr) = item_path(folder, item->task, item->seq, "json");
    char *text scope(free_ptr) = json_dumps(item->counts, JSON_COMPACT);
    return folder_make(folder, err) &&
           (!item->games || file_write_durable(games, item->games, item->games_size, err)) &&
           file_write_durable(counts, text, strlen(text), err);
}

// The counts go first: games without counts are nothing.
void spool_remove(const char *folder, const SpoolItem *item) {
    char *games scope(free_ptr) = item_path(folder, item->task, item->seq, "games.zst");
    char *counts scope(free_ptr) = item_path(folder, item->task, item->seq, "json");
    unlink(counts);
    unlink(games);
}

static SpoolItem *read_item(const char *folder, int64_t task, int seq) {
    Error err;
    char *games scope(free_ptr) = item_path(folder, task, seq, "games.zst");
    char *counts scope(free_ptr) = item_path(folder, task, seq, "json");
    char *text scope(free_ptr) = file_read(counts, COUNTS_MAX, NULL, &err);
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    if (!root) {
        log_warn("unsent batch %s cannot be read", counts);
        return NULL;
    }
    SpoolItem *item = xcalloc(1, sizeof *item);
    *item = (SpoolItem){.task = task, .seq = seq, .counts = root};
    if (!json_is_null(json_object_get(root, "games_sha256")))
        item->games = file_read(games, GAMES_MAX, &item->games_size, &err);
    if (!item->games)
        json_object_set_new(root, "games_sha256", json_null());
    return item;
}

static int is_counts(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0;
}

// What a sudden death left: games whose counts were never written or are gone already, and files
// that did not get their final name.
static void remove_orphan(const char *folder, const char *name) {
    size_t stem = strcspn(name, ".");
    char *path scope(free_ptr) = xasprintf("%s/%s", folder, name);
    char *counts scope(free_ptr) = xasprintf("%s/%.*s.json", folder, (int)stem, name);
    bool games = strcmp(name + stem, ".games.zst") == 0;
    if (!games || access(counts, F_OK) != 0)
        unlink(path);
}

static void remove_orphans(const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && !is_counts(entry))
            remove_orphan(folder, entry->d_name);
    closedir(dir);
}

SpoolItem **spool_read(const char *folder, int *count) {
    remove_orphans(folder);
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, is_counts, alphasort);
    SpoolItem **items = NULL;
    *count = 0;
    if (found > 0)
        items = xcalloc((size_t)found, sizeof *items);
    for (int i = 0; i < found; i++) {
        int64_t task;
        int seq;
        SpoolItem *item = NULL;
        if (sscanf(entries[i]->d_name, "%" SCNd64 "-%d.json", &task, &seq) == 2)
            item = read_item(folder, task, seq);
        if (item)
            items[(*count)++] = item;
        free(entries[i]);
    }
    free(entries);
    return items;
}
