// The loop's state, in parts that each belong to one file of this folder. All of it belongs to the loop thread, except
// `commits`, which readers look at.
#pragma once

#include <stdatomic.h>

#include "server/common/address.h"
#include "server/http/event_stream.h"
#include "server/http/rate_limit.h"
#include "server/http/request.h"
#include "server/ledger/disk_policy.h"
#include "server/ledger/replayer.h"

struct MHD_Daemon;
typedef struct Readers Readers;

typedef struct LoopConfig {
    Trusted trusted;
    int readers, connections, connections_per_address;
    int timeout_s; // for a connection on which nothing moves, and for a request to arrive whole
} LoopConfig;

// A client's connection: how long it has been sending its present request.
typedef struct Connection {
    int fd;
    bool receiving;
    double since;
    RequestData *request; // that is arriving or being answered; NULL: none
    Sender *network;      // that it is counted to; NULL: a trusted proxy's
    struct Connection *previous, *next;
} Connection;

// Of connections.c.
typedef struct Connections {
    struct MHD_Daemon *daemon;
    Connection *first;
    bool stopping; // every new request is refused
} Connections;

enum { LARGE_BODIES_MAX = 4 };

// Of admit.c: who holds how much of the server.
typedef struct Admission {
    Senders *senders;
    Rate *writes; // of each address
    // Whose bodies take much memory just now, 0: no one's; those of users, and those of workers.
    int64_t large_bodies[2][LARGE_BODIES_MAX];
} Admission;

// Of run_turn.c: requests on their way through a turn.
typedef struct TurnQueues {
    JobQueue ready;      // for the next turn
    RequestList waiting; // in order of arrival
    double waiting_due;  // the earliest wait_until among them
    RequestList done;    // of this turn, before its COMMIT
} TurnQueues;

// Of tick.c: what is done once a second.
typedef struct Housekeeping {
    Replayer *replayer;
    Sweeper *sweeper;
    DiskPolicy disk;
    double last; // when
} Housekeeping;

typedef struct Loop {
    LoopConfig config;
    Site *site;
    const Route *const *routes;
    int listen_fd; // connections arrive here
    int event_fd;  // readers have finished something
    int signal_fd; // SIGTERM, SIGINT
    int lock_fd;   // DATA's lock; its time says when the server was last alive
    Db *writer;
    Turn turn;             // the present one
    bool refs_out_of_sync; // some references may be ahead of the database
    Readers *readers;
    Connections connections;
    Admission admission;
    TurnQueues queues;
    StreamList streams;
    Housekeeping housekeeping;
    LoopFigures figures; // the counters among them
    atomic_ulong commits;
    double started;
} Loop;
