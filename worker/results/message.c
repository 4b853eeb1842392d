// See message.h.
#include "worker/results/message.h"

#include <stdlib.h>

void message_free(Message *message) {
    if (message->played) {
        batch_release(&message->played->batch);
        free(message->played);
    }
    spool_item_free(message->item);
    json_decref(message->body);
    free(message);
}
