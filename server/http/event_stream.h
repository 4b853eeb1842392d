// Server-sent events: each stream is a suspended connection with a bounded queue of its own. What
// is published goes to all streams after the turn's COMMIT; a client too slow to read is dropped.
// Loop thread only.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "server/common/str.h"

struct MHD_Connection;
struct MHD_Response;
struct Sender;

enum { STREAM_QUEUE_MAX = 256 << 10, STREAMS_MAX = 2000, STREAM_COMMENT_S = 15 };

typedef struct Stream {
    struct MHD_Connection *connection;
    Str queue;
    size_t sent; // of queue
    bool suspended, ended;
    double last;  // when something was queued
    int64_t test; // events "test" of other tests are left out; 0: none is
    const struct Sender *sender;
    struct StreamList *list;
    struct Stream *previous, *next;
} Stream;

typedef struct StreamList {
    Stream *first;
    int count;
} StreamList;

// The response that makes the connection a stream. Where there are too many, the oldest of the
// sender that has most ends for it; NULL when no sender has more than this one.
struct MHD_Response *stream_open(StreamList *list, struct MHD_Connection *connection,
                                 const struct Sender *sender, int64_t test);
void stream_publish(StreamList *list, const char *event, const json_t *data, double now);
void stream_tick(StreamList *list, double now); // comments, by which dead connections are noticed
void stream_end_all(StreamList *list);
