// Batches that the server has not acknowledged yet, on disk in the order in which they were made.
// A batch is two files, the games and then the counts: one without counts was never finished.
//
//   spool/0000000311-000003.games.zst
//   spool/0000000311-000003.json
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "../server/common/error.h"

typedef struct SpoolItem {
    int64_t task;
    int seq;
    json_t *counts; // body of POST batches
    char *games;    // zstd; NULL: none kept
    size_t games_size;
    bool games_sent; // in this run
} SpoolItem;
void spool_item_free(SpoolItem *item);

// Writes the item, durably. False: it is not on disk (full, …); the item itself is as it was.
bool spool_write(const char *folder, const SpoolItem *item, Error *err);
void spool_remove(const char *folder, const SpoolItem *item);
// All items on disk, by task and seq; *count of them, NULL for none. Files that cannot be read are
// named in the log and left alone; what a sudden death left half done is removed. One process at a
// time may use the folder.
SpoolItem **spool_read(const char *folder, int *count);
