// Results on disk that the server has not acknowledged yet, in the order in which they were made. A
// batch is two files. The games are written first, then the counts: a batch without counts is
// incomplete. An attachment is one file.
//
//   spool/0000000311-000003.games.zst
//   spool/0000000311-000003.json
//   spool/0000000311-e02.json.zst       a fault report
//   spool/0000000311-a000017.json.zst   the other end of a game that was played on
//   spool/refused/…                     what the server refused, and files that cannot be read
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"

typedef enum { SPOOL_BATCH, SPOOL_FAULT_REPORT, SPOOL_ENDING } SpoolKind;

typedef struct SpoolItem {
    SpoolKind kind;
    int64_t task;
    int seq;        // number of the batch, the fault report or the game in the task
    json_t *counts; // of a batch: body of POST batches
    char *bytes;    // zstd: the games of a batch (NULL: there are none), or the attachment
    size_t size;
    bool bytes_sent; // of a batch, in this run
} SpoolItem;
void spool_item_free(SpoolItem *item);

// Writes the item and syncs it. False: it is not on disk, which may be full; the item is unchanged.
bool spool_write(const char *folder, const SpoolItem *item, Error *err);
void spool_remove(const char *folder, const SpoolItem *item);
// Moves the item to `refused`, with the reason in a text file. The number of files there is
// limited.
void spool_put_aside(const char *folder, const SpoolItem *item, const char *why);
// All items on disk, sorted by task and seq, attachments last. *count is their number; NULL:
// none. Files that cannot be read are logged and moved to `refused`. Incomplete files of a killed
// worker are removed. Only one process at a time may use the folder.
SpoolItem **spool_read(const char *folder, int *count);
