// What the uploader's thread does; each is called without the lock.
#pragma once

#include "worker/results/uploader_state.h"

void uploader_send_heartbeat(Uploader *uploader);
void uploader_send_message(Uploader *uploader, Message *message); // which may be gone afterwards
void uploader_pack_batch(Uploader *uploader,
                         Message *message); // on disk afterwards, if that can be
void uploader_store_item(Uploader *uploader, Message *message); // that is in memory only
