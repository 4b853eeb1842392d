// What the server has not acknowledged yet, on disk in the order in which it was made. A batch is
// two files, the games and then the counts: one without counts was never finished. Fault reports is one
// file.
//
//   spool/0000000311-000003.games.zst
//   spool/0000000311-000003.json
//   spool/0000000311-e02.json.zst
//   spool/refused/…                     what the server would not have, and what cannot be read
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"

typedef enum { SPOOL_BATCH, SPOOL_FAULT_REPORT } SpoolKind;

typedef struct SpoolItem {
    SpoolKind kind;
    int64_t task;
    int seq;        // of the batch, or of the fault_report, in the task
    json_t *counts; // of a batch: body of POST batches
    char *bytes;    // zstd: a batch's games (NULL: none kept), or the fault reports
    size_t size;
    bool bytes_sent; // of a batch, in this run
} SpoolItem;
void spool_item_free(SpoolItem *item);

// Writes the item, durably. False: it is not on disk (full, …); the item itself is as it was.
bool spool_write(const char *folder, const SpoolItem *item, Error *err);
void spool_remove(const char *folder, const SpoolItem *item);
// Moves the item to `refused`, with a text that says why; only so many are kept there.
void spool_put_aside(const char *folder, const SpoolItem *item, const char *why);
// All items on disk, by task and seq, fault reports last; *count of them, NULL for none. Files that
// cannot be read are named in the log and put aside; what a sudden death left half done is removed.
// One process at a time may use the folder.
SpoolItem **spool_read(const char *folder, int *count);
