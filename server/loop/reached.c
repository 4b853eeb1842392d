// See reached.h.
#include "server/loop/reached.h"

#include <strings.h>

#include "server/common/inside.h"
#include "server/common/log.h"
#include "server/ledger/outside.h"

static bool has_line(const Params *headers, const char *name, size_t size) {
    for (size_t i = 0; i < headers->count; i++)
        if (!strncasecmp(headers->items[i].name, name, size))
            return true;
    return false;
}

static bool has_private_hosts(const Params *headers) {
    for (size_t i = 0; i < headers->count; i++)
        if (!strcasecmp(headers->items[i].name, "Host") &&
            !host_is_private(headers->items[i].value))
            return false;
    return true;
}

// NULL: from inside.
static const char *way_in(const RequestData *data, const char *peer) {
    const Params *headers = &data->headers;
    if (!address_is_private(peer))
        return "a request from a public address";
    if (data->https || target_is_https(data->target))
        return "a request by https";
    if (has_line(headers, "X-Forwarded-", 12))
        return "a request with a proxy's line X-Forwarded-…";
    if (has_line(headers, "Forwarded", sizeof "Forwarded"))
        return "a request with a proxy's line Forwarded";
    if (!params_find_caseless(headers, "Host"))
        return "a request that does not name its Host";
    if (!has_private_hosts(headers) || !target_is_private(data->target))
        return "a request for a name or an address that is not of a private network";
    return NULL;
}

static void tell(const RequestData *data, const char *peer, const char *way) {
    const char *host = request_header(&data->req, "Host");
    log_warn("reached from outside: %s (peer %s, Host %.255s). Unless the setting trust is set, "
             "only machines of people with a role get tasks from now on; /health says more",
             way, peer, host ? host : "absent");
}

bool reached_note(Loop *loop, const RequestData *data, const char *peer, Error *err) {
    const char *way = loop->reached ? NULL : way_in(data, peer);
    if (!way)
        return true;
    size_t events = loop->turn.event_count;
    if (!db_begin(loop->writer, err) || !outside_reach(&loop->turn, way, err) ||
        !db_commit(loop->writer, err)) {
        db_rollback(loop->writer);
        turn_forget_events(&loop->turn, events);
        return error_set(err, 503, "unavailable",
                         "the database cannot be written at the moment; try again");
    }
    loop->reached = true;
    atomic_fetch_add(&loop->commits, 1);
    turn_wake(&loop->turn); // claims that wait; this turn also publishes the event
    tell(data, peer, way);
    return true;
}
