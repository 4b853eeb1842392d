// See admit.h.
#include "server/loop/admit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/common/clock.h"
#include "server/db/settings.h"
#include "server/http/access.h"

enum {
    LARGE_BODIES_OWN = 2, // of one user or one worker
    REPLY_SMALL = 16 << 10,
};

// ---- the sender of a request --------------------------------------------------------------------

bool admit_address(Loop *loop, RequestData *data, Error *err) {
    char network[ADDRESS_MAX], name[SENDER_NAME_MAX];
    address_network(data->address, network);
    snprintf(name, sizeof name, "network %.50s", network);
    data->network = sender_enter(loop->admission.senders, SENDER_NETWORK, name, name);
    data->in_flight =
        sender_begin_request(data->network, loop->config.connections_per_address, err);
    return data->in_flight;
}

bool admit_connection(Loop *loop, Connection *c, const struct sockaddr *peer) {
    char address[ADDRESS_MAX] = "unknown", network[ADDRESS_MAX], name[SENDER_NAME_MAX];
    Error err;
    if (peer)
        address_of_peer(peer, address);
    if (trusted_has(&loop->config.trusted, address))
        return true;
    address_network(address, network);
    snprintf(name, sizeof name, "connections %.50s", network);
    Sender *sender = sender_enter(loop->admission.senders, SENDER_NETWORK, name, name);
    if (!sender_begin_request(sender, loop->config.connections_per_address, &err)) {
        sender_leave(sender);
        return false;
    }
    c->network = sender;
    return true;
}

void admit_disconnect(Connection *c) {
    if (c->network)
        sender_end_request(c->network);
    sender_leave(c->network);
}

void admit_viewer(Loop *loop, RequestData *data) {
    const Viewer *viewer = &data->req.viewer;
    char name[SENDER_NAME_MAX];
    const char *network = sender_name(data->network);
    if (viewer->worker_id) {
        snprintf(name, sizeof name, "machine %lld", (long long)viewer->worker_id);
        data->sender = sender_enter(loop->admission.senders, SENDER_MACHINE, name, data->owner);
    } else if (viewer->user_id) {
        snprintf(name, sizeof name, "user %lld", (long long)viewer->user_id);
        data->sender = sender_enter(loop->admission.senders, SENDER_USER, name, name);
    } else
        data->sender = sender_enter(loop->admission.senders, SENDER_NETWORK, network, network);
    data->job = (Job){.sender = data->sender, .request = data};
}

// Limits the writes of all callers except workers. The calls of a worker are limited by its tasks.
bool admit_write(Loop *loop, RequestData *data, Error *err) {
    double wait_s;
    if (!strcmp(data->req.method, "GET") || access_is_worker(data->route->access))
        return true;
    int64_t limit = setting_whole(data->req.turn->db, SETTING_WRITES_PER_MINUTE);
    if (rate_take(loop->admission.writes, data->address, (double)limit, time_monotonic(), &wait_s))
        return true;
    response_header(&data->res, "Retry-After", "%.0f", ceil(wait_s));
    return error_set(err, 429, "too_many_writes",
                     "this address sent over %lld requests that change data within a minute; "
                     "try again in %.0f s",
                     (long long)limit, ceil(wait_s));
}

// ---- memory -------------------------------------------------------------------------------------

// The body's size as the client announced it; 0 if it did not.
size_t announced_size(const RequestData *data) {
    const char *length = request_header(&data->req, "Content-Length");
    long size;
    return length && parse_long(length, 0, INT64_MAX, &size) ? (size_t)size : 0;
}

// A large body keeps its slot until the request ends, which may take hours on a slow line. So no
// sender gets all slots, and results of workers never wait for uploads of nets.
bool admit_size(Loop *loop, RequestData *data, size_t size, Error *err) {
    const Viewer *viewer = &data->req.viewer;
    bool is_worker = access_is_worker(data->route->access);
    int64_t *places = loop->admission.large_bodies[is_worker], *free_place = NULL;
    int64_t who = is_worker ? viewer->worker_id : viewer->user_id;
    int own = 0;
    if (data->large || size <= BODY_LARGE)
        return true;
    if (!is_worker && !viewer_submits(data->req.turn->db, &data->req.viewer, 0))
        return error_set(err, 403, "forbidden",
                         "only users with the role developer may upload files over %d MiB; ask a "
                         "maintainer or the operator for the role",
                         BODY_LARGE >> 20);
    for (int i = 0; i < LARGE_BODIES_MAX; i++) {
        own += places[i] == who;
        free_place = places[i] ? free_place : &places[i];
    }
    if (own >= LARGE_BODIES_OWN || !free_place)
        return error_set(err, 503, "busy", "%s; try again in a moment",
                         own >= LARGE_BODIES_OWN ? "other large files of yours are still arriving"
                                                 : "too many large files are arriving");
    data->large = free_place;
    *free_place = who;
    admit_give_bytes(data);
    return true;
}

void admit_give_bytes(RequestData *data) {
    if (data->charged)
        sender_give_bytes(data->sender, data->charged);
    data->charged = 0;
}

bool admit_bytes(RequestData *data, size_t size, Error *err) {
    if (data->large)
        return true;
    if (!sender_take_bytes(data->sender, size, err)) {
        response_header(&data->res, "Retry-After", "2");
        return false;
    }
    data->charged += size;
    return true;
}

RequestData *admit_heaviest(Loop *loop) {
    RequestData *most = NULL;
    for (Connection *c = loop->connections.first; c; c = c->next) {
        RequestData *data = c->request;
        if (!data || data->stage != STAGE_BODY || !data->charged)
            continue;
        size_t held = sender_bytes(data->sender), least = most ? sender_bytes(most->sender) : 0;
        if (!most || held > least || (held == least && data->charged > most->charged))
            most = data;
    }
    return most;
}

// ---- jobs ---------------------------------------------------------------------------------------

bool admit_job(RequestData *data, Error *err) {
    data->has_job = sender_begin_job(data->sender, err);
    if (!data->has_job)
        response_header(&data->res, "Retry-After", "1");
    return data->has_job;
}

void admit_end_job(RequestData *data) {
    if (data->has_job)
        sender_end_job(data->sender);
    data->has_job = false;
}

bool admit_stream(RequestData *data, Error *err) {
    data->has_stream = sender_begin_stream(data->network, err);
    return data->has_stream;
}

bool admit_download(RequestData *data, Error *err) {
    data->has_download = sender_begin_download(data->network, err);
    if (!data->has_download)
        response_header(&data->res, "Retry-After", "60");
    return data->has_download;
}

// One reply of any size is allowed, so that a repository can be cloned. A client that requests many
// large replies at one time and reads none of them is refused.
void admit_answered(RequestData *data) {
    size_t size = data->res.body.size;
    Error err;
    admit_end_job(data);
    request_forget_body(data);
    admit_give_bytes(data);
    if (size <= REPLY_SMALL || !data->sender)
        return;
    if (!sender_bytes(data->sender))
        size = size < NETWORK_BYTES_MAX ? size : NETWORK_BYTES_MAX;
    if (!admit_bytes(data, size, &err))
        request_refuse(data, &err);
}

void admit_over(RequestData *data) {
    if (data->sender)
        sender_waits_no_more(data->sender, data);
    admit_end_job(data);
    admit_give_bytes(data);
    if (data->large)
        *data->large = 0;
    if (data->has_stream)
        sender_end_stream(data->network);
    if (data->has_download)
        sender_end_download(data->network);
    if (data->in_flight)
        sender_end_request(data->network);
    sender_leave(data->sender);
    sender_leave(data->network);
}
