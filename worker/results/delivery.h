// Sends one message: which calls it needs, and what the replies mean for it. It has no queue, no
// pauses and no lock.
#pragma once

#include "worker/results/message.h"

typedef struct Delivery {
    ApiOutcome outcome; // API_OK and API_REFUSED are final
    ApiReply reply;
    Error error;
} Delivery;

void delivery_release(Delivery *delivery);
// The caller releases it.
Delivery message_send(Api *api, Message *message);
