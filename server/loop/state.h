// The loop's state, in parts that belong to one file of this folder each. All of it belongs to the
// loop thread, except `commits`, which readers read.
#pragma once

#include <stdatomic.h>

#include "server/common/address.h"
#include "server/http/event_stream.h"
#include "server/http/rate_limit.h"
#include "server/http/request.h"
#include "server/ledger/disk_policy.h"
#include "server/ledger/ledger.h"

struct MHD_Daemon;
typedef struct Readers Readers;

typedef struct LoopConfig {
    Trusted trusted;
    int readers, connections, connections_per_address;
    int timeout_s; // until an idle connection is closed, and until a request must be complete
} LoopConfig;

enum { CONNECTION_MEMORY = 32 << 10 }; // bounds the headers of a request

// The connection of a client, and how long its present request has been arriving.
typedef struct Connection {
    int fd;
    bool receiving;
    bool waited, moved; // bytes waited at the last tick; some of a body were read since
    double since;
    char *target;         // of a request whose headers are arriving; NULL: none
    RequestData *request; // that is arriving or is being answered; NULL: none
    Sender *network;      // that the connection counts for; NULL: it is a trusted proxy's
    struct Connection *previous, *next;
} Connection;

// For connections.c.
typedef struct Connections {
    struct MHD_Daemon *daemon;
    Connection *first;
    bool stopping; // every new request is refused
} Connections;

enum { LARGE_BODIES_MAX = 4 };

// For admit.c: the shares of the senders.
typedef struct Admission {
    Senders *senders;
    Rate *writes; // of each address
    // The owners of the large bodies in memory (0: a free slot): those of users, and those of
    // workers.
    int64_t large_bodies[2][LARGE_BODIES_MAX];
} Admission;

// For run_turn.c: requests before, in and after a turn.
typedef struct TurnQueues {
    JobQueue ready;      // for the next turn
    RequestList waiting; // in order of arrival
    double waiting_due;  // the earliest wait_until among them
    RequestList done;    // of this turn, before its COMMIT
} TurnQueues;

// For download.c: replies that are made part by part.
typedef struct Downloads {
    struct Download *first;
    int count;        // those that are not broken off
    int reading;      // parts that readers make, or have in their queue
    JobQueue waiting; // for a reader
} Downloads;

// For tick.c: the work of each second.
typedef struct Housekeeping {
    Sweeper *sweeper;
    DiskPolicy disk;
    double last; // the time of the last tick
    ClockGap clock;
    Recount *recount;                           // of a test from which a machine is being excluded
    void (*each_second)(void *arg, Turn *turn); // of the parts of the server above the loop
    void *each_second_arg;
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
    Turn turn;             // the present turn
    bool reached;          // from outside; the database has it
    bool refs_out_of_sync; // some references may be ahead of the database
    Readers *readers;
    Connections connections;
    Admission admission;
    TurnQueues queues;
    StreamList streams;
    Downloads downloads;
    Housekeeping housekeeping;
    LoopFigures figures; // the counters among them
    atomic_ulong commits;
    double started;
} Loop;
