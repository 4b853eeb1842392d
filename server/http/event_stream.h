// Server-sent events. Each stream is a suspended connection with its own bounded queue. Events go
// to all streams after the turn's COMMIT. A stream whose client reads too slowly is closed. Loop
// thread only.
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
    size_t sent; // bytes of queue
    bool suspended, ended;
    double last;  // when bytes were last queued
    int64_t test; // leaves out the events "test" of other tests; 0: of none
    const struct Sender *sender;
    struct StreamList *list;
    struct Stream *previous, *next;
} Stream;

typedef struct StreamList {
    Stream *first;
    int count;
} StreamList;

// The response that makes the connection a stream. If there are too many streams, the oldest stream
// of the sender with the most streams is ended. NULL if no sender has more streams than this one.
struct MHD_Response *stream_open(StreamList *list, struct MHD_Connection *connection,
                                 const struct Sender *sender, int64_t test);
void stream_publish(StreamList *list, const char *event, const json_t *data, double now);
void stream_tick(StreamList *list,
                 double now); // sends comments: dead connections are noticed
void stream_end_all(StreamList *list);
