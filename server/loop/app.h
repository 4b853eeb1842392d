// The installation and its loop, as the core's own files see it. Everything here belongs to the
// loop thread, but for the readers' queues (http_readers.c) and `metrics`, which are counters.
#pragma once

#include <stdatomic.h>

#include "server/http/address.h"
#include "server/http/cache.h"
#include "server/http/event_stream.h"
#include "server/http/rate_limit.h"
#include "server/http/request.h"

struct MHD_Daemon;
typedef struct Readers Readers;

typedef struct AppConfig {
    const char *data, *listen;
    const char *web; // folder of templates and static files; NULL: beside the program
    Trusted trusted;
    int readers, connections, connections_per_address;
    int timeout_s; // for a connection on which nothing moves, and for a request to arrive whole
} AppConfig;

typedef struct Metrics {
    atomic_ulong requests, replies[6]; // by first digit of the status
    atomic_ulong turns, commits, commit_failures;
    double commit_seconds; // loop thread only, as the rest
    double prepare_seconds, apply_seconds;
    unsigned long bytes_in;
} Metrics;

// A client's connection: how long it has been sending its present request.
typedef struct Connection {
    int fd;
    bool receiving;
    double since;
    RequestData *request; // that is arriving or being answered; NULL: none
    Sender *network;      // that it is counted to; NULL: a trusted proxy's
    struct Connection *previous, *next;
} Connection;

enum { LARGE_BODIES_MAX = 4 };

struct App {
    AppConfig config;
    char *web;
    Db *writer;
    struct MHD_Daemon *daemon;
    Readers *readers;
    struct Replayer *replayer;
    struct Sweeper *sweeper;
    bool disk_short, games_dropped; // as disk_tick() found it; dropped in the turn before
    double drop_after;
    int event_fd, signal_fd, lock_fd, listen_fd;
    int port;
    JobQueue ready;      // for the next turn
    RequestList waiting; // in order of arrival
    double waiting_due;  // the earliest wait_until among them
    RequestList done;    // of this turn, before its COMMIT
    Connection *connections;
    // Whose bodies take much memory just now, 0: nobody's; those of users, and those of workers.
    int64_t large_bodies[2][LARGE_BODIES_MAX];
    StreamList streams;
    Rate *writes; // of each address
    Senders *senders;
    Cache *cache; // of documents
    Turn turn;
    bool stopping;
    atomic_bool undeclared_proxy; // see app_undeclared_proxy
    bool refs_out_of_sync;        // some references may be ahead of the database
    double started, ticked;
    Metrics metrics;
};

double time_now(void);       // Unix seconds
double time_monotonic(void); // for intervals

// Opens DATA (locked against a second server), listens, and serves until SIGTERM or SIGINT.
bool app_run(const AppConfig *config, Error *err);
// DATA's lock, held until the descriptor is closed; -1 when another server has it. *down: seconds
// since the lock was last touched, 0 when new.
int app_lock(const char *data, double *down, Error *err);
const char *app_web(const App *app); // folder with templates/ and static/
