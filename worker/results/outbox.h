// What the courier has yet to send, in order, and which of it may go now. No lock of its own.
#pragma once

#include "worker/results/batch.h"
#include "worker/results/uploader.h"

typedef enum { LETTER_BATCH, LETTER_FAULT_REPORT, LETTER_WORD } LetterKind;

// A batch as it came (raw); a batch or fault reports that is made up for sending (item); a word on a
// task.
typedef struct Letter {
    struct Letter *next;
    LetterKind kind;
    int64_t task;
    CourierBatch *raw;
    SpoolItem *item;
    bool stored;   // the item is on disk
    char path[16]; // of a word, below tasks/ID/
    json_t *body;  // of a word
    Waiter waiter;
    double retry_s; // monotonic: not before
    bool tried;     // in vain
    bool offline;   // nobody answered then
} Letter;

typedef struct Outbox {
    Letter *first, *last;
} Outbox;

// Copies the letter; what it points to is stolen. The copy is in the box.
Letter *outbox_add(Outbox *box, const Letter *letter);
Letter *outbox_first_raw(const Outbox *box);      // NULL: none
Letter *outbox_first_unstored(const Outbox *box); // an item that is not on disk; NULL: none
// The first letter that may go at `now_s`; NULL: none. Batches of a task go in order; its fault reports
// goes after them; its last word goes after its batches and after fault reports that was not tried yet.
// Tasks do not wait for each other: a batch that is never answered holds up nothing but its own
// task. *soonest_s is lowered to the time of the first that waits for its time.
Letter *outbox_next(const Outbox *box, double now_s, double *soonest_s);
// The server answers: letters that met nobody may go at once.
void outbox_hurry(Outbox *box);
void outbox_remove(Outbox *box, const Letter *letter); // does not free it
void letter_free(Letter *letter);
