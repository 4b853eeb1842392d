// See attachments.h.
#include "worker/task/attachments.h"

#include <stdlib.h>

void attachments_add(Attachments *attachments, SpoolItem *item, int pair) {
    if (pair < attachments->pairs_sent)
        return uploader_attachment(attachments->uploader, item);
    size_t count = (size_t)attachments->count + 1;
    attachments->waiting = xrealloc(attachments->waiting, count * sizeof *attachments->waiting);
    attachments->waiting[attachments->count++] = (Attachment){item, pair};
}

void attachments_release(Attachments *attachments, int pairs) {
    int left = 0;
    attachments->pairs_sent = pairs;
    for (int i = 0; i < attachments->count; i++)
        if (attachments->waiting[i].pair < pairs)
            uploader_attachment(attachments->uploader, attachments->waiting[i].item);
        else
            attachments->waiting[left++] = attachments->waiting[i];
    attachments->count = left;
}

void attachments_drop(Attachments *attachments) {
    for (int i = 0; i < attachments->count; i++)
        spool_item_free(attachments->waiting[i].item);
    free(attachments->waiting);
    *attachments = (Attachments){0};
}
