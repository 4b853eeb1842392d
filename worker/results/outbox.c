// See outbox.h.
#include "worker/results/outbox.h"

#include <stdlib.h>

Letter *outbox_add(Outbox *box, const Letter *letter) {
    Letter *copy = xmalloc(sizeof *copy);
    *copy = *letter;
    copy->next = NULL;
    if (box->last)
        box->last->next = copy;
    else
        box->first = copy;
    box->last = copy;
    return copy;
}

Letter *outbox_first_raw(const Outbox *box) {
    Letter *letter = box->first;
    while (letter && !letter->raw)
        letter = letter->next;
    return letter;
}

Letter *outbox_first_unstored(const Outbox *box) {
    Letter *letter = box->first;
    while (letter && (!letter->item || letter->stored))
        letter = letter->next;
    return letter;
}

// Whether `earlier`, which stands before `letter`, has to be sent before it.
static bool goes_before(const Letter *earlier, const Letter *letter) {
    if (earlier->task != letter->task)
        return false;
    if (earlier->kind == LETTER_FAULT_REPORT)
        return letter->kind == LETTER_FAULT_REPORT ||
               (letter->kind == LETTER_WORD && !earlier->tried);
    return true;
}

static bool is_free(const Outbox *box, const Letter *letter) {
    for (const Letter *l = box->first; l != letter; l = l->next)
        if (goes_before(l, letter))
            return false;
    return letter->item || letter->body;
}

Letter *outbox_next(const Outbox *box, double now_s, double *soonest_s) {
    for (Letter *l = box->first; l; l = l->next) {
        if (!is_free(box, l))
            continue;
        if (l->retry_s <= now_s)
            return l;
        if (l->retry_s < *soonest_s)
            *soonest_s = l->retry_s;
    }
    return NULL;
}

void outbox_hurry(Outbox *box) {
    for (Letter *l = box->first; l; l = l->next)
        if (l->offline)
            l->retry_s = 0;
}

void outbox_remove(Outbox *box, const Letter *letter) {
    Letter **link = &box->first, *before = NULL;
    for (; *link != letter; link = &before->next)
        before = *link;
    *link = letter->next;
    if (box->last == letter)
        box->last = before;
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
