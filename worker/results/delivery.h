// One letter of the courier's, sent: which call it is, and what the answer means for it. No queue,
// no waiting and no lock.
#pragma once

#include "worker/results/outbox.h"

typedef struct Delivery {
    ApiOutcome outcome; // API_OK and API_REFUSED settle it
    ApiReply reply;
    Error error;
    bool changed; // the letter's item is another now (its games were refused): to be stored again
} Delivery;

void delivery_release(Delivery *delivery);
// Released by the caller.
Delivery letter_send(Api *api, Letter *letter);
