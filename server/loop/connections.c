// See connections.h. libmicrohttpd calls the functions here on the loop thread. on_connection()
// counts a new connection for its network. The first call of on_access() comes when the headers
// have arrived. It makes the request's RequestData, finds client, route and viewer, and checks the
// limits and the right to use the route. The next calls bring the body, which is charged to its
// sender. A last call says that the request is whole. The viewer may have changed while a body
// arrived, so it is identified once more. A repeated Idempotency-Key gets the stored reply. Any
// other request goes to a reader or to the next turn. Meanwhile its connection is suspended, and
// libmicrohttpd checks it neither for data nor for timeouts. http_resume() lets on_access() send
// the reply, and on_completed() frees the RequestData.
//
// The body of a refused request is read and dropped before the reply, because a browser that is
// still sending does not show the reason. If the body is too large for that, or the client waits
// for permission to send it, the reply comes at once and the connection is closed.
//
// Deliberately not done: no handler runs here, and no body is parsed here. There are no timers
// besides libmicrohttpd's, which closes idle connections: http_tick() looks once a second for
// connections that are not idle and still do not finish a request.
//
// libmicrohttpd reports the end of a request only if it has called on_access() for it. It drops
// some requests before that: those whose headers or query do not fit into the connection's memory,
// and those that it cannot parse. So until on_access() only the connection holds anything for a
// request. Such a request counts for no sender. It reaches no route, and libmicrohttpd closes its
// connection, which does count for its network.
#include "server/loop/connections.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "server/common/clock.h"
#include "server/common/log.h"
#include "server/http/access.h"
#include "server/loop/admit.h"
#include "server/loop/download.h"
#include "server/loop/idempotency.h"
#include "server/loop/identify.h"
#include "server/loop/readers.h"
#include "server/loop/reply.h"

enum {
    RECEIVE_BYTES_PER_S = 4096, // each byte extends the deadline by its share of a second
    DISCARD_MAX = 8 << 20, // read of a visitor's refused body, so that a browser shows the reason
};

// ---- the beginning of a request -----------------------------------------------------------------

static enum MHD_Result copy_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                   const char *value) {
    (void)kind;
    if (!value)
        value = "";
    params_add(cls, name, strlen(name), value, strlen(value));
    return MHD_YES;
}

static bool find_route(const Loop *loop, RequestData *data, const char *method, Error *err) {
    RouteMatch match = route_find(loop->routes, method, data->path);
    data->req.method = match.route ? match.route->method : "GET";
    data->is_head = strcmp(method, "HEAD") == 0;
    if (!match.route && match.allow[0]) {
        response_header(&data->res, "Allow", "%s", match.allow);
        return error_set(err, 405, "method_not_allowed", "%s accepts only %s", data->path,
                         match.allow);
    }
    if (!match.route)
        return error_set(err, 404, "not_found", "there is nothing at %s", data->path);
    data->route = match.route;
    return request_set_params(data, &match, err);
}

static bool too_large(const RequestData *data, Error *err) {
    if (!data->route->max_body)
        return error_set(err, 413, "too_large", "this request must not have a body");
    return error_set(err, 413, "too_large", "the body is over %zu bytes", data->route->max_body);
}

static bool begin(Loop *loop, RequestData *data, const char *method, Error *err) {
    MHD_get_connection_values(data->connection, MHD_HEADER_KIND, copy_header, &data->headers);
    data->req.turn = &loop->turn;
    loop->turn.now = time_now();
    if (!client_identify(loop, data, err))
        return false;
    if (loop->connections.stopping)
        return error_set(err, 503, "stopping", "the server is stopping; try again in a moment");
    if (!request_set_target(data, err) || !admit_address(loop, data, err) ||
        !find_route(loop, data, method, err))
        return false;
    if (announced_size(data) > data->route->max_body)
        return too_large(data, err);
    str_release(&data->raw);
    str_init(&data->raw, data->route->max_body);
    request_set_cookies(data);
    if (!admit_write(loop, data, err) || !viewer_identify(data, err))
        return false;
    admit_viewer(loop, data);
    return access_check(&data->req.viewer, data->route->access, err) &&
           admit_size(loop, data, announced_size(data), err);
}

// A page that needs a session sends the visitor to the page for signing in, which leads back.
static void refuse(RequestData *data, const Error *err) {
    bool page = data->route && !strcmp(data->route->method, "GET") && !request_is_api(&data->req);
    if (err->status == 401 && page) {
        response_text(&data->res, 303, "text/plain; charset=utf-8", "");
        response_header(&data->res, "Location", "/login?next=%.480s", data->path);
    } else
        request_refuse(data, err);
    data->stage = STAGE_DISCARD;
    request_forget_body(data);
    admit_give_bytes(data);
}

// ---- its body and its end -----------------------------------------------------------------------

// on_connection() made it before any other call for the connection.
static Connection *connection_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

// If all bodies together take too much memory, refuses the body of the sender that holds most.
static void make_room(Loop *loop) {
    Error err;
    RequestData *most;
    while (senders_full(loop->admission.senders) && (most = admit_heaviest(loop))) {
        error_set(&err, 503, "busy", "too many requests are arriving; try again in a moment");
        refuse(most, &err);
    }
}

static void receive(Loop *loop, RequestData *data, const char *bytes, size_t size) {
    Connection *connection = connection_of(data->connection);
    connection->since += (double)size / RECEIVE_BYTES_PER_S;
    connection->moved = true;
    loop->figures.bytes_in += size;
    if (data->stage == STAGE_DISCARD) {
        data->discarded += size;
        return;
    }
    Error err;
    str_add(&data->raw, bytes, size);
    bool good = data->raw.overflow
                    ? too_large(data, &err)
                    : admit_size(loop, data, data->raw.size, &err) && admit_bytes(data, size, &err);
    if (good)
        make_room(loop);
    else
        refuse(data, &err);
}

static void received(RequestData *data, bool whole) {
    Connection *connection = connection_of(data->connection);
    connection->receiving = !whole;
    connection->since = time_monotonic();
}

void http_dispatch(Loop *loop, RequestData *data) {
    Error err;
    data->req.turn = &loop->turn;
    if (data->stage == STAGE_APPLY)
        queue_push(&loop->queues.ready, &data->job);
    else if (data->stage == STAGE_PREPARE)
        data = readers_push(loop->readers, data);
    if (data && data->stage == STAGE_PREPARE) {
        error_set(&err, 503, "busy", "too many requests are waiting; try again in a moment");
        request_refuse(data, &err);
        data->stage = STAGE_REPLY;
    }
    if (data && (data->stage == STAGE_PART || data->stage == STAGE_SEND))
        download_go_on(loop, data);
    if (data && data->stage == STAGE_REPLY)
        http_resume(data);
}

static enum MHD_Result whole_body_is_here(Loop *loop, RequestData *data) {
    Error err = {0};
    received(data, true);
    loop->figures.requests++;
    if (data->stage == STAGE_DISCARD)
        return http_reply(loop, data);
    if ((data->raw.size && !viewer_again(data, &err)) || !admit_job(data, &err) ||
        !idempotency_look(data, &err)) {
        request_refuse(data, &err);
        data->stage = STAGE_REPLY;
    }
    if (data->stage == STAGE_REPLY)
        return http_reply(loop, data);
    data->stage = data->route->prepare ? STAGE_PREPARE : STAGE_APPLY;
    MHD_suspend_connection(data->connection);
    http_dispatch(loop, data);
    return MHD_YES;
}

// A refused body is read to its end if its sender may send that many bytes. A browser that is still
// sending does not show the reason.
static size_t discard_max(const RequestData *data) {
    bool is_user = data->route && data->req.viewer.user_id;
    return is_user && data->route->max_body > DISCARD_MAX ? data->route->max_body : DISCARD_MAX;
}

static enum MHD_Result first_look(Loop *loop, RequestData *data, const char *method) {
    Error err = {0};
    if (!begin(loop, data, method, &err))
        refuse(data, &err);
    const char *length = request_header(&data->req, "Content-Length");
    long size = 0;
    bool vast =
        length && (!parse_long(length, 0, INT64_MAX, &size) || (size_t)size > discard_max(data));
    bool asks = request_header(&data->req, "Expect");
    if (data->stage == STAGE_DISCARD && (vast || asks))
        return http_reply(loop, data); // closes the connection
    return MHD_YES;
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_size, void **state) {
    Loop *loop = cls;
    RequestData *data = *state;
    (void)url, (void)version;
    if (!data) {
        Connection *c = connection_of(connection);
        *state = c->request = data = request_new(loop->site, c->target);
        free(c->target);
        c->target = NULL;
        data->connection = connection;
        data->started = time_monotonic();
        data->stage = STAGE_BODY;
        return first_look(loop, data, method);
    }
    switch (data->stage) {
    case STAGE_BODY:
    case STAGE_DISCARD:
        if (!*upload_size)
            return whole_body_is_here(loop, data);
        receive(loop, data, upload, *upload_size);
        *upload_size = 0;
        return data->discarded > discard_max(data) ? MHD_NO : MHD_YES;
    default:
        return http_reply(loop, data);
    }
}

// Called when the request's first line has arrived. Only the first call of on_access() turns its
// target into a request: libmicrohttpd may drop the request before.
static void *on_target(void *cls, const char *target, struct MHD_Connection *connection) {
    Connection *c = connection_of(connection);
    (void)cls;
    free(c->target);
    c->target = xstrdup(target);
    return NULL;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode why) {
    RequestData *data = *state;
    (void)cls, (void)why;
    if (!data)
        return;
    received(data, false);
    connection_of(connection)->request = NULL;
    download_over(data);
    admit_over(data);
    request_free(data);
    *state = NULL;
}

void http_resume(RequestData *data) {
    data->stage = STAGE_REPLY;
    admit_answered(data);
    MHD_resume_connection(data->connection);
}

// ---- connections --------------------------------------------------------------------------------

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    Loop *loop = cls;
    Connection *c = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        c = *context = xcalloc(1, sizeof *c);
        *c = (Connection){
            .fd =
                MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
            .receiving = true,
            .since = time_monotonic(),
            .next = loop->connections.first};
        if (c->next)
            c->next->previous = c;
        loop->connections.first = c;
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        if (!admit_connection(loop, c, info ? info->client_addr : NULL))
            shutdown(c->fd, SHUT_RDWR);
        return;
    }
    if (c->next)
        c->next->previous = c->previous;
    *(c->previous ? &c->previous->next : &loop->connections.first) = c->next;
    admit_disconnect(c);
    free(c->target);
    free(c);
}

// What is left to read on the connection: < 0 nothing yet, 0 the client has ended its side.
static ssize_t look_ahead(const Connection *c) {
    char byte;
    return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

// libmicrohttpd does not see an end that arrives together with the last bytes. It also stops
// reading a body, and never sleeps again, when the header of a chunk does not fit into its memory:
// then bytes wait at two ticks, and none of the body was read between them.
static bool is_broken_off(Connection *c) {
    ssize_t ahead = look_ahead(c);
    bool waits = ahead > 0 && c->request, is_stuck = waits && c->waited && !c->moved;
    c->waited = waits;
    c->moved = false;
    return ahead == 0 || is_stuck;
}

// libmicrohttpd closes connections on which no bytes arrive. This closes connections that send a
// byte from time to time and never finish a request. It also closes those whose request cannot
// become whole any more, so that its share of memory and its place among the large bodies are free
// before the timeout. A request that is whole is not affected.
void http_tick(Loop *loop, double now) {
    for (Connection *c = loop->connections.first; c; c = c->next)
        if (c->receiving && (now - c->since > loop->config.timeout_s || is_broken_off(c)))
            shutdown(c->fd, SHUT_RDWR);
}

bool http_is_gone(const RequestData *data) {
    return look_ahead(connection_of(data->connection)) == 0;
}

static void on_log(void *cls, const char *format, va_list args) {
    char line[512];
    (void)cls;
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = 0;
    log_debug("libmicrohttpd: %s", line);
}

bool http_start(Loop *loop, Error *err) {
    // Behind a proxy all clients have one address, so a limit for each address would limit all of
    // them together.
    unsigned per_address =
        loop->config.trusted.count ? 0 : (unsigned)loop->config.connections_per_address;
    loop->connections.daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_TURBO | MHD_USE_ERROR_LOG,
        0, NULL, NULL, on_access, loop, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
        MHD_OPTION_LISTEN_SOCKET, loop->listen_fd, MHD_OPTION_URI_LOG_CALLBACK, on_target, loop,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, loop, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, loop, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)loop->config.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)loop->config.timeout_s,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_address, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_END);
    return loop->connections.daemon || error_set(err, 0, "", "libmicrohttpd does not start");
}

void http_quiesce(Loop *loop) {
    loop->connections.stopping = true;
    MHD_quiesce_daemon(loop->connections.daemon);
}

void http_stop(Loop *loop) {
    if (loop->connections.daemon)
        MHD_stop_daemon(loop->connections.daemon);
    loop->connections.daemon = NULL;
}

void http_run(Loop *loop) {
    MHD_run(loop->connections.daemon);
}
