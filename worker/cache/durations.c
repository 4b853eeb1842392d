// See durations.h. One small file of the instance: {"anvil build": 12.5, …}.
#include "worker/cache/durations.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "server/common/str.h"

enum { FILE_MAX = 1 << 16, ENTRIES_MAX = 200 };
static const double least_s = 0.5; // what is quicker was there already

static char *file_path(const Store *store) {
    return xasprintf("%s/typical.json", store->instance);
}

static json_t *load(const Store *store) {
    Error ignored;
    char *path scope(free_ptr) = file_path(store);
    char *text scope(free_ptr) = file_read(path, FILE_MAX, NULL, &ignored);
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    if (json_is_object(root) && json_object_size(root) < ENTRIES_MAX)
        return root;
    json_decref(root);
    return json_object();
}

double duration_usual_s(const Store *store, const char *engine, const char *what) {
    json_auto_t *root = load(store);
    char *key scope(free_ptr) = xasprintf("%s %s", engine, what);
    double seconds = json_number_value(json_object_get(root, key));
    return seconds > 0 ? seconds : 0;
}

void duration_note(const Store *store, const char *engine, const char *what, double seconds) {
    Error err;
    if (seconds < least_s)
        return;
    json_auto_t *root = load(store);
    char *key scope(free_ptr) = xasprintf("%s %s", engine, what);
    double before = json_number_value(json_object_get(root, key));
    json_object_set_new(root, key, json_real(before > 0 ? (before + seconds) / 2 : seconds));
    char *text scope(free_ptr) = json_dumps(root, JSON_INDENT(2));
    char *path scope(free_ptr) = file_path(store);
    if (text && !file_write_durable(path, text, strlen(text), &err))
        log_debug("%s", err.message);
}
