// Sends one message: which calls it takes, and what the reply means for it. No queue, no waiting and
// no lock.
#pragma once

#include "worker/results/message.h"

typedef struct Delivery {
    ApiOutcome outcome; // API_OK and API_REFUSED settle it
    ApiReply reply;
    Error error;
    bool changed; // the message's item is another now (its games were refused): to be stored again
} Delivery;

void delivery_release(Delivery *delivery);
// Released by the caller.
Delivery message_send(Api *api, Message *message);
