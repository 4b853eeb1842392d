// The actions of the uploader's thread. All are called without the lock.
#pragma once

#include "worker/results/uploader_state.h"

void uploader_send_heartbeat(Uploader *uploader);
void uploader_send_message(Uploader *uploader, Message *message); // which may be freed by it
void uploader_pack_batch(Uploader *uploader,
                         Message *message);                     // afterwards on disk, if possible
void uploader_store_item(Uploader *uploader, Message *message); // which is only in memory
