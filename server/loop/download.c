// See download.h. libmicrohttpd asks for bytes by a callback. A request belongs to the loop while
// its part is sent (STAGE_SEND) and to a reader while the next one is made (STAGE_PART); its
// connection is suspended then, so that libmicrohttpd does not end the request meanwhile.
#include "server/loop/download.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "server/common/clock.h"
#include "server/loop/readers.h"

enum { BLOCK = 16 << 10 }; // bytes that libmicrohttpd asks for at once

typedef struct Download {
    Loop *loop;
    RequestData *data;
    size_t sent;  // bytes of its part
    double since; // when the part was there; monotonic
    bool sending; // a part; else a reader has the request, or will get it
    bool ended;   // broken off: it is not counted any more
    struct Download *previous, *next;
} Download;

// ---- parts --------------------------------------------------------------------------------------

static int socket_of(const RequestData *data) {
    return MHD_get_connection_info(data->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static void cut(RequestData *data) {
    data->cut = true;
    data->stage = STAGE_SEND;
}

// A client that has gone shows only when something is sent, and a part may be empty.
static bool is_gone(const RequestData *data) {
    char byte;
    return recv(socket_of(data), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void send_part(RequestData *data) {
    data->cut |= data->download->ended;
    data->download->sending = true;
    data->download->sent = 0;
    data->download->since = time_monotonic();
    MHD_resume_connection(data->connection);
}

static RequestData *pop_waiting(Downloads *downloads) {
    Job *job = queue_pop(&downloads->waiting);
    if (job)
        queue_done(&downloads->waiting, job);
    return job ? job->request : NULL;
}

// Gives parts to the readers; owners take turns. While the queue of the readers is full, they wait:
// a part takes no other request's place.
static void read_next(Loop *loop) {
    Downloads *downloads = &loop->downloads;
    int most = loop->config.readers > 4 ? loop->config.readers / 4 : 1;
    while (downloads->waiting.count && downloads->reading < most &&
           readers_queued(loop->readers) < READERS_QUEUE_MAX) {
        RequestData *data = pop_waiting(downloads);
        if (!data->download->ended && !is_gone(data) && !readers_push(loop->readers, data)) {
            downloads->reading++;
            continue;
        }
        cut(data);
        send_part(data);
    }
}

void download_go_on(Loop *loop, RequestData *data) {
    if (data->stage == STAGE_PART)
        cut(data);
    loop->downloads.reading--;
    send_part(data);
    read_next(loop);
}

static ssize_t download_read(void *cls, uint64_t position, char *to, size_t max) {
    Download *download = cls;
    RequestData *data = download->data;
    size_t left = data->res.body.size - download->sent;
    (void)position;
    if (data->cut) { // a connection that nothing happens at would not be looked at again
        shutdown(socket_of(data), SHUT_RDWR);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (!left && !data->res.more)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!left) {
        data->stage = STAGE_PART;
        download->sending = false;
        MHD_suspend_connection(data->connection);
        queue_push(&download->loop->downloads.waiting, &data->job);
        read_next(download->loop);
        return 0;
    }
    size_t size = left < max ? left : max;
    memcpy(to, data->res.body.data + download->sent, size);
    download->sent += size;
    return (ssize_t)size;
}

// ---- downloads ----------------------------------------------------------------------------------

// The response may live a little longer than its request.
void download_over(RequestData *data) {
    Download *download = data->download;
    if (!download)
        return;
    Downloads *downloads = &download->loop->downloads;
    *(download->previous ? &download->previous->next : &downloads->first) = download->next;
    if (download->next)
        download->next->previous = download->previous;
    downloads->count -= !download->ended;
    download->data = NULL;
    data->download = NULL;
}

static void download_free(void *cls) {
    Download *download = cls;
    if (download->data)
        download_over(download->data);
    free(download);
}

// Its connection may take no more bytes, so it is shut. If a reader has its request, that is cut
// when it comes back.
static void break_off(Download *download) {
    download->loop->downloads.count--;
    download->ended = true;
    if (download->sending)
        download->data->cut = true;
    shutdown(socket_of(download->data), SHUT_RDWR);
}

static bool is_slow(const Download *download, double now, double seconds) {
    return download->sending && !download->ended && now - download->since > seconds;
}

// That of the client that has been at its part for longest; NULL: none is slow.
static Download *slowest_of(const Loop *loop, double now) {
    Download *slowest = NULL;
    for (Download *each = loop->downloads.first; each; each = each->next)
        if (is_slow(each, now, DOWNLOAD_SLOW_S) && (!slowest || each->since < slowest->since))
            slowest = each;
    return slowest;
}

// One of the network that has most, and more than this network; NULL: there is none.
static Download *greediest_of(const Loop *loop, const Sender *network) {
    Download *greediest = NULL;
    int most = sender_downloads(network); // the new one is included
    for (Download *each = loop->downloads.first; each; each = each->next) {
        int count = sender_downloads(each->data->network);
        if (!each->ended && count > most) {
            most = count;
            greediest = each;
        }
    }
    return greediest;
}

static bool make_room(Loop *loop, const RequestData *data, double now) {
    Download *victim = slowest_of(loop, now);
    if (!victim)
        victim = greediest_of(loop, data->network);
    if (victim)
        break_off(victim);
    return victim;
}

struct MHD_Response *download_open(Loop *loop, RequestData *data, Error *err) {
    double now = time_monotonic();
    if (loop->downloads.count >= DOWNLOADS_MAX && !make_room(loop, data, now)) {
        error_set(err, 503, "busy", "too many downloads are under way; try again in a moment");
        return NULL;
    }
    Download *download = xcalloc(1, sizeof *download);
    *download = (Download){
        .loop = loop, .data = data, .sending = true, .since = now, .next = loop->downloads.first};
    if (download->next)
        download->next->previous = download;
    loop->downloads.first = data->download = download;
    loop->downloads.count++;
    data->stage = STAGE_SEND;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, download_read, download,
                                             download_free);
}

void download_tick(Loop *loop, double now) {
    for (Download *each = loop->downloads.first; each; each = each->next)
        if (is_slow(each, now, DOWNLOAD_PART_S))
            break_off(each);
    read_next(loop);
}

void download_end_all(Loop *loop) {
    for (RequestData *data; (data = pop_waiting(&loop->downloads));) {
        cut(data);
        send_part(data);
    }
    for (Download *each = loop->downloads.first; each; each = each->next)
        if (each->sending)
            each->data->cut = true;
}
