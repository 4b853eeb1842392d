// The actions of the uploader's thread. All are called without the lock.
#pragma once

#include "worker/results/uploader_state.h"

void uploader_send_heartbeat(Uploader *uploader);
// Frees the message if it needs no further try.
void uploader_send_message(Uploader *uploader, Message *message);
// Compresses the batch, and writes it to disk if there is room.
void uploader_pack_batch(Uploader *uploader, Message *message);
// Tries to write an item to disk that is only in memory.
void uploader_store_item(Uploader *uploader, Message *message);
