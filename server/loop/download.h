// Downloads: replies that are too long to be made at once (Response.more). A part of at most a few
// hundred KiB is in memory. When the client has taken it, its connection is suspended, and a reader
// makes the next part. So a slow client holds no thread and no transaction.
//
// Bounds: of one network eight downloads at a time (senders.h). All downloads together have a
// quarter of the readers, and their owners take turns part by part, so pages and results do not
// wait for them. A client must take a part within five minutes. If there are too many downloads,
// the one that has been at its part for the longest time, and for ten seconds, is broken off, else
// one of the network that has most. Loop thread only.
#pragma once

#include "server/loop/state.h"

enum { DOWNLOADS_MAX = 128, DOWNLOAD_PART_S = 300, DOWNLOAD_SLOW_S = 10 };

// The response that sends the parts. NULL: 503, there are too many downloads, and none can
// be broken off.
struct MHD_Response *download_open(Loop *loop, RequestData *data, Error *err);
// The readers have made a part, or returned the request without one: goes on.
void download_go_on(Loop *loop, RequestData *data);
void download_over(RequestData *data); // its request ends
// Breaks off downloads whose client takes too long.
void download_tick(Loop *loop, double now);
void download_end_all(Loop *loop);
