// See event_stream.h. libmicrohttpd asks for bytes by a callback. When the queue is empty the
// connection is suspended; the next event resumes it. libmicrohttpd does not notice a disconnect of
// a suspended connection, so a comment is written every few seconds.
#include "server/http/event_stream.h"
#include "server/common/json_member.h"
#include "server/http/senders.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

static ssize_t stream_read(void *cls, uint64_t position, char *to, size_t max) {
    Stream *stream = cls;
    size_t left = stream->queue.size - stream->sent;
    (void)position;
    if (stream->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!left) {
        stream->suspended = true;
        MHD_suspend_connection(stream->connection);
        return 0;
    }
    size_t size = left < max ? left : max;
    memcpy(to, stream->queue.data + stream->sent, size);
    stream->sent += size;
    if (stream->sent == stream->queue.size) {
        str_clear(&stream->queue);
        stream->sent = 0;
    }
    return (ssize_t)size;
}

static void stream_free(void *cls) {
    Stream *stream = cls;
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        stream->list->first = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    stream->list->count--;
    str_release(&stream->queue);
    free(stream);
}

static void stream_wake(Stream *stream) {
    if (!stream->suspended)
        return;
    stream->suspended = false;
    MHD_resume_connection(stream->connection);
}

// Ends one stream if there are too many. Its client connects again after a few seconds.
static bool make_room(StreamList *list, const Sender *sender) {
    Stream *victim = NULL;
    int running = 0, most = sender_streams(sender); // the new stream is included
    for (Stream *stream = list->first; stream; stream = stream->next) {
        running += !stream->ended;
        if (!stream->ended && sender_streams(stream->sender) >= most + !victim) {
            most = sender_streams(stream->sender);
            victim = stream;
        }
    }
    if (running < STREAMS_MAX)
        return true;
    if (victim) {
        victim->ended = true;
        stream_wake(victim);
    }
    return victim;
}

struct MHD_Response *stream_open(StreamList *list, struct MHD_Connection *connection,
                                 const Sender *sender, int64_t test) {
    if (list->count >= STREAMS_MAX && !make_room(list, sender))
        return NULL;
    Stream *stream = xcalloc(1, sizeof *stream);
    *stream = (Stream){.connection = connection,
                       .sender = sender,
                       .test = test,
                       .list = list,
                       .next = list->first};
    str_init(&stream->queue, STREAM_QUEUE_MAX);
    str_puts(&stream->queue, "retry: 3000\n\n");
    if (list->first)
        list->first->previous = stream;
    list->first = stream;
    list->count++;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, stream_read, stream,
                                             stream_free);
}

static void stream_send(Stream *stream, const char *text, size_t size, double now) {
    str_add(&stream->queue, text, size);
    stream->ended |= stream->queue.overflow;
    stream->last = now;
    stream_wake(stream);
}

void stream_publish(StreamList *list, const char *event, const json_t *data, double now) {
    if (!list->first)
        return;
    char *json scope(free_ptr) = json_dumps(data, JSON_COMPACT | JSON_ENCODE_ANY);
    char *text scope(free_ptr) = xasprintf("event: %s\ndata: %s\n\n", event, json ? json : "null");
    int64_t test = strcmp(event, "test") ? 0 : member_int(data, "id"); // 0: it is of no test
    for (Stream *stream = list->first; stream; stream = stream->next)
        if (!stream->test || !test || test == stream->test)
            stream_send(stream, text, strlen(text), now);
}

void stream_tick(StreamList *list, double now) {
    for (Stream *stream = list->first; stream; stream = stream->next)
        if (now - stream->last >= STREAM_COMMENT_S)
            stream_send(stream, ": \n\n", 4, now);
}

void stream_end_all(StreamList *list) {
    for (Stream *stream = list->first; stream; stream = stream->next) {
        stream->ended = true;
        stream_wake(stream);
    }
}
