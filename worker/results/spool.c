// See spool.h.
#include "worker/results/spool.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/common/log.h"
#include "server/common/str.h"

enum { COUNTS_MAX = 1 << 16, BYTES_MAX = 8 << 20, ASIDE_MAX = 192 };

void spool_item_free(SpoolItem *item) {
    if (!item)
        return;
    json_decref(item->counts);
    free(item->bytes);
    free(item);
}

// ---- names --------------------------------------------------------------------------------------

static char *stem_path(const char *folder, const SpoolItem *item, const char *suffix) {
    if (item->kind == SPOOL_FAULT_REPORT)
        return xasprintf("%s/%010" PRId64 "-e%02d%s", folder, item->task, item->seq, suffix);
    if (item->kind == SPOOL_ENDING)
        return xasprintf("%s/%010" PRId64 "-a%06d%s", folder, item->task, item->seq, suffix);
    return xasprintf("%s/%010" PRId64 "-%06d%s", folder, item->task, item->seq, suffix);
}

static char *counts_path(const char *folder, const SpoolItem *item) {
    return stem_path(folder, item, ".json");
}

static char *bytes_path(const char *folder, const SpoolItem *item) {
    return stem_path(folder, item, item->kind == SPOOL_BATCH ? ".games.zst" : ".json.zst");
}

static bool ends_with(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

static int is_item(const struct dirent *entry) {
    return ends_with(entry->d_name, ".json") || ends_with(entry->d_name, ".json.zst");
}

// Accepts only names that this file makes.
static bool parse_name(const char *name, SpoolItem *item) {
    const char *dash = strchr(name, '-');
    bool fault_report = dash && dash[1] == 'e', ending = dash && dash[1] == 'a';
    *item = (SpoolItem){.kind = fault_report ? SPOOL_FAULT_REPORT
                                : ending     ? SPOOL_ENDING
                                             : SPOOL_BATCH};
    if (!dash || sscanf(name, "%10" SCNd64, &item->task) != 1 ||
        sscanf(dash + 1 + (fault_report || ending), "%6d", &item->seq) != 1 || item->task <= 0 ||
        item->seq < 0)
        return false;
    char *wanted scope(free_ptr) =
        fault_report || ending ? bytes_path("", item) : counts_path("", item); // "/NAME"
    return strcmp(wanted + 1, name) == 0;
}

// ---- writing ------------------------------------------------------------------------------------

bool spool_write(const char *folder, const SpoolItem *item, Error *err) {
    char *bytes scope(free_ptr) = bytes_path(folder, item);
    if (!folder_make(folder, err) ||
        (item->bytes && !file_write_durable(bytes, item->bytes, item->size, err)))
        return false;
    if (item->kind != SPOOL_BATCH)
        return true;
    char *counts scope(free_ptr) = counts_path(folder, item);
    char *text scope(free_ptr) = json_dumps(item->counts, JSON_COMPACT);
    return file_write_durable(counts, text, strlen(text), err);
}

// Removes the counts first: games without counts are ignored.
void spool_remove(const char *folder, const SpoolItem *item) {
    char *bytes scope(free_ptr) = bytes_path(folder, item);
    char *counts scope(free_ptr) = counts_path(folder, item);
    unlink(counts);
    unlink(bytes);
}

// ---- refused items ------------------------------------------------------------------------------

static int is_no_folder(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

// Removes the oldest: names begin with the number of the task.
static void trim_aside(const char *aside) {
    struct dirent **entries = NULL;
    int found = scandir(aside, &entries, is_no_folder, alphasort);
    for (int i = 0; i < found; i++) {
        char *path scope(free_ptr) = xasprintf("%s/%s", aside, entries[i]->d_name);
        if (i < found - ASIDE_MAX)
            unlink(path);
        free(entries[i]);
    }
    free(entries);
}

void spool_put_aside(const char *folder, const SpoolItem *item, const char *why) {
    Error err = {0};
    char *aside scope(free_ptr) = xasprintf("%s/refused", folder);
    char *note scope(free_ptr) = stem_path(aside, item, ".why");
    if (!spool_write(aside, item, &err) || !file_write_durable(note, why, strlen(why), &err))
        log_warn("cannot keep a result that the server refused: %s", err.message);
    spool_remove(folder, item);
    trim_aside(aside);
}

static bool move_aside(const char *folder, const char *aside, const char *name) {
    char *from scope(free_ptr) = xasprintf("%s/%s", folder, name);
    char *to scope(free_ptr) = xasprintf("%s/%s", aside, name);
    return rename(from, to) == 0;
}

// Moves the games of a batch together with its counts.
static void put_file_aside(const char *folder, const char *name) {
    Error err = {0};
    char *aside scope(free_ptr) = xasprintf("%s/refused", folder);
    char *games scope(free_ptr) = xasprintf("%.*s.games.zst", (int)strcspn(name, "."), name);
    if (!folder_make(aside, &err) || !move_aside(folder, aside, name))
        return log_warn("%s/%s cannot be read and stays there", folder, name);
    if (ends_with(name, ".json"))
        move_aside(folder, aside, games);
    log_warn("%s/%s cannot be read and was moved to %s", folder, name, aside);
    trim_aside(aside);
}

// ---- reading ------------------------------------------------------------------------------------

// False: the games are not those of the counts, which the server does not take without.
static bool read_games(const char *folder, SpoolItem *item) {
    Error err;
    char hash[SHA256_HEX_MAX];
    const char *wanted = json_string_value(json_object_get(item->counts, "games_sha256"));
    char *path scope(free_ptr) = bytes_path(folder, item);
    char *bytes = wanted ? file_read(path, BYTES_MAX, &item->size, &err) : NULL;
    item->bytes = bytes;
    return bytes && strcmp(sha256_hex(bytes, item->size, hash), wanted) == 0;
}

static bool read_item(const char *folder, SpoolItem *item) {
    Error err;
    if (item->kind != SPOOL_BATCH) {
        char *path scope(free_ptr) = bytes_path(folder, item);
        item->bytes = file_read(path, BYTES_MAX, &item->size, &err);
        return item->bytes && item->size > 0;
    }
    char *path scope(free_ptr) = counts_path(folder, item);
    char *text scope(free_ptr) = file_read(path, COUNTS_MAX, NULL, &err);
    item->counts = text ? json_loads(text, 0, NULL) : NULL;
    return json_is_object(item->counts) && member_int(item->counts, "seq") == item->seq &&
           read_games(folder, item);
}

// New; NULL: it was moved to `refused`.
static SpoolItem *take_item(const char *folder, const char *name) {
    SpoolItem *item = xcalloc(1, sizeof *item);
    if (parse_name(name, item) && read_item(folder, item))
        return item;
    spool_item_free(item);
    put_file_aside(folder, name);
    return NULL;
}

// Removes what a killed worker left: games without counts, and files that were not renamed yet.
static void remove_orphan(const char *folder, const char *name) {
    size_t stem = strcspn(name, ".");
    char *path scope(free_ptr) = xasprintf("%s/%s", folder, name);
    char *counts scope(free_ptr) = xasprintf("%s/%.*s.json", folder, (int)stem, name);
    bool games = strcmp(name + stem, ".games.zst") == 0;
    if (!games || access(counts, F_OK) != 0)
        unlink(path); // fails on a folder, such as `refused`
}

static void remove_orphans(const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && !is_item(entry))
            remove_orphan(folder, entry->d_name);
    closedir(dir);
}

SpoolItem **spool_read(const char *folder, int *count) {
    remove_orphans(folder);
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, is_item, alphasort);
    SpoolItem **items = NULL;
    *count = 0;
    if (found > 0)
        items = xcalloc((size_t)found, sizeof *items);
    for (int i = 0; i < found; i++) {
        SpoolItem *item = take_item(folder, entries[i]->d_name);
        if (item)
            items[(*count)++] = item;
        free(entries[i]);
    }
    free(entries);
    return items;
}
