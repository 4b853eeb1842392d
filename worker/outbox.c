// See outbox.h.
#include "outbox.h"

#include <stdlib.h>

void outbox_add(Outbox *box, const Letter *letter) {
    Letter *copy = xmalloc(sizeof *copy);
    *copy = *letter;
    copy->next = NULL;
    if (box->last)
        box->last->next = copy;
    else
        box->first = copy;
    box->last = copy;
}

Letter *outbox_first_raw(const Outbox *box) {
    Letter *letter = box->first;
    while (letter && !letter->raw)
        letter = letter->next;
    return letter;
}

Letter *outbox_take_first(Outbox *box) {
    Letter *letter = box->first;
    box->first = letter ? letter->next : NULL;
    if (!box->first)
        box->last = NULL;
    return letter;
}

void letter_free(Letter *letter) {
    if (letter->raw) {
        batch_release(&letter->raw->batch);
        free(letter->raw);
    }
    spool_item_free(letter->item);
    json_decref(letter->body);
    free(letter);
}
