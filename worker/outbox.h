// What the courier has yet to send, in order. No lock of its own.
#pragma once

#include "batch.h"
#include "courier.h"

// A batch as it came (raw), a batch that is on disk (item), or a word on a task.
typedef struct Letter {
    struct Letter *next;
    CourierBatch *raw;
    SpoolItem *item;
    int64_t task;
    char path[16]; // of a word, below tasks/ID/
    json_t *body;  // of a word
} Letter;

typedef struct Outbox {
    Letter *first, *last;
} Outbox;

// Copies the letter; what it points to is stolen.
void outbox_add(Outbox *box, const Letter *letter);
Letter *outbox_first_raw(const Outbox *box); // NULL: none
Letter *outbox_take_first(Outbox *box);      // new; NULL: none
void letter_free(Letter *letter);
