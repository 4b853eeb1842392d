// See loop.h.
#include "server/loop/loop.h"

#include <microhttpd.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/clock.h"
#include "server/common/log.h"
#include "server/ledger/outside.h"
#include "server/loop/connections.h"
#include "server/loop/download.h"
#include "server/loop/readers.h"
#include "server/loop/run_turn.h"

enum { TICK_MS = 1000, DRAIN_MS = 3000 };

static void take_finished(Loop *loop) {
    RequestList finished = readers_take(loop->readers);
    for (RequestData *data; (data = list_pop(&finished));)
        http_dispatch(loop, data);
}

static int wait_ms(Loop *loop, double now) {
    unsigned long long least = TICK_MS, other;
    if (loop->queues.ready.count || loop->turn.wakes)
        return 0;
    if (MHD_get_timeout(loop->connections.daemon, &other) == MHD_YES && other < least)
        least = other;
    double left =
        loop->queues.waiting.first ? 1000 * (loop->queues.waiting_due - now) + 1 : TICK_MS;
    if (left < (double)least)
        least = left > 0 ? (unsigned long long)left : 0;
    return (int)least;
}

// True if a signal requested the end.
static bool wait_for_events(Loop *loop, int timeout_ms) {
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(loop->connections.daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd fds[] = {
        {info->epoll_fd, POLLIN, 0}, {loop->event_fd, POLLIN, 0}, {loop->signal_fd, POLLIN, 0}};
    uint64_t count;
    struct signalfd_siginfo signal;
    poll(fds, 3, timeout_ms);
    if ((fds[1].revents & POLLIN) && read(loop->event_fd, &count, sizeof count) < 0)
        log_debug("event already taken");
    return (fds[2].revents & POLLIN) && read(loop->signal_fd, &signal, sizeof signal) > 0;
}

// Answers every request, so that no connection is suspended: libmicrohttpd requires that at its
// end.
static void drain(Loop *loop) {
    http_quiesce(loop);
    readers_stop(loop->readers);
    take_finished(loop);
    double end = time_monotonic() + DRAIN_MS / 1000.0;
    do
        run_turn(loop, time_now(), true);
    while (loop->queues.ready.count && time_monotonic() < end);
    run_turn_refuse_rest(loop, time_now());
    stream_end_all(&loop->streams);
    download_end_all(loop);
    end = time_monotonic() + DRAIN_MS / 1000.0;
    do {
        http_run(loop);
        wait_for_events(loop, 20);
    } while (loop->connections.first && time_monotonic() < end);
    stream_end_all(&loop->streams);
    download_end_all(loop);
}

void loop_run(Loop *loop) {
    double next_tick = time_monotonic();
    while (!wait_for_events(loop, wait_ms(loop, time_now()))) {
        http_run(loop);
        take_finished(loop);
        double now = time_now();
        bool tick = time_monotonic() >= next_tick;
        run_turn(loop, now, tick);
        if (tick) {
            next_tick = time_monotonic() + TICK_MS / 1000.0;
            // The time of the lock file says when the server last ran, because leases must not end
            // while it is down.
            futimens(loop->lock_fd, NULL);
            http_tick(loop, time_monotonic());
            stream_tick(&loop->streams, now);
            download_tick(loop, time_monotonic());
            run_turn_end_gone(loop);
        }
        http_run(loop); // waiting does not notice a resumed connection
    }
    drain(loop);
}

// ---- beginning and end --------------------------------------------------------------------------

static void figures_now(const void *of, LoopFigures *out) {
    const Loop *loop = of;
    *out = loop->figures;
    out->commits = atomic_load(&loop->commits);
    out->waiting_claims = loop->queues.waiting.count;
    out->readers_queued = readers_queued(loop->readers);
    out->body_bytes = senders_bytes(loop->admission.senders);
    out->streams = (size_t)loop->streams.count;
    out->downloads = (size_t)loop->downloads.count;
    for (const Connection *c = loop->connections.first; c; c = c->next)
        out->connections++;
    out->uptime_seconds = time_now() - loop->started;
}

bool loop_start(Loop *loop, Error *err) {
    loop->started = time_now();
    loop->turn.db = loop->writer;
    loop->reached = outside_is_reached(loop->writer);
    loop->queues.ready.lane = 1;
    loop->downloads.waiting.lane = 2;
    loop->admission = (Admission){.senders = senders_new(), .writes = rate_new()};
    loop->site->figures = figures_now;
    loop->site->loop = loop;
    loop->readers =
        readers_start(loop->site->data, loop->config.readers, loop->event_fd, &loop->commits, err);
    return loop->readers && http_start(loop, err);
}

void loop_stop(Loop *loop) {
    http_stop(loop);
    if (loop->readers) {
        readers_stop(loop->readers);
        readers_free(loop->readers);
    }
    turn_release(&loop->turn);
    rate_free(loop->admission.writes);
    senders_free(loop->admission.senders);
}
