// The queue of unsent messages, in order, and the choice of the next one. It has no lock.
#pragma once

#include "worker/results/message.h"

typedef struct Outbox {
    Message *first, *last;
} Outbox;

// Copies the message and steals what it points to. Returns the copy in the outbox.
Message *outbox_add(Outbox *box, const Message *message);
Message *outbox_first_in(const Outbox *box, MessageState state); // NULL: none
// The first message that may be sent at `now_s`; NULL: none. Batches of a task are sent in order.
// Its attachments follow them. Its final report follows its batches and the attachments that were
// not tried yet. Tasks do not wait for each other: a batch that the server never answers delays its
// own task only. *soonest_s is lowered to the time of the first message that waits for its time.
Message *outbox_next(const Outbox *box, double now_s, double *soonest_s);
// The server is reachable again: retry messages that failed because of the network immediately.
void outbox_retry_now(Outbox *box);
void outbox_remove(Outbox *box, const Message *message); // does not free it
