// See outbox.h.
#include "worker/results/outbox.h"

#include <stdlib.h>

Message *outbox_add(Outbox *box, const Message *message) {
    Message *copy = xmalloc(sizeof *copy);
    *copy = *message;
    copy->next = NULL;
    if (box->last)
        box->last->next = copy;
    else
        box->first = copy;
    box->last = copy;
    return copy;
}

Message *outbox_first_in(const Outbox *box, MessageState state) {
    Message *message = box->first;
    while (message && message->state != state)
        message = message->next;
    return message;
}

// True if `earlier`, which is before `message` in the queue, must be sent first.
static bool goes_before(const Message *earlier, const Message *message) {
    if (earlier->task != message->task)
        return false;
    if (earlier->kind == MESSAGE_ATTACHMENT)
        return message->kind == MESSAGE_ATTACHMENT ||
               (message->kind == MESSAGE_FINAL_REPORT && !earlier->failed);
    return true;
}

static bool is_free(const Outbox *box, const Message *message) {
    for (const Message *earlier = box->first; earlier != message; earlier = earlier->next)
        if (goes_before(earlier, message))
            return false;
    return message->state != MESSAGE_PENDING;
}

Message *outbox_next(const Outbox *box, double now_s, double *soonest_s) {
    for (Message *message = box->first; message; message = message->next) {
        if (!is_free(box, message))
            continue;
        if (message->retry_s <= now_s)
            return message;
        if (message->retry_s < *soonest_s)
            *soonest_s = message->retry_s;
    }
    return NULL;
}

void outbox_retry_now(Outbox *box) {
    for (Message *message = box->first; message; message = message->next)
        if (message->offline)
            message->retry_s = 0;
}

void outbox_remove(Outbox *box, const Message *message) {
    Message **link = &box->first, *before = NULL;
    for (; *link != message; link = &before->next)
        before = *link;
    *link = message->next;
    if (box->last == message)
        box->last = before;
}
