// Messages that belong to a pair and follow the batch that holds it: fault reports, and the other
// ends of games that were played on. They wait here until the uploader has that batch.
#pragma once

#include "worker/results/uploader.h"

typedef struct Attachment {
    SpoolItem *item;
    int pair; // of the task
} Attachment;

typedef struct Attachments {
    Uploader *uploader; // borrowed
    Attachment *waiting;
    int count;
    int pairs_sent; // the uploader has the batches of the pairs below
} Attachments;

// Hands the item over, at once or when its batch is. Steals it.
void attachments_add(Attachments *attachments, SpoolItem *item, int pair);
// The uploader has the batches of all pairs below `pairs`.
void attachments_release(Attachments *attachments, int pairs);
// The other pairs will not count: drops what waits for them.
void attachments_drop(Attachments *attachments);
