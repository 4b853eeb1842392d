// Senders: to whom the server's memory, its readers' time and its connections are charged, and how
// much of them one sender may take. A sender is the machine or the account of a valid token or session,
// else the network of the address. Its owner may have many senders: it is an account, or the
// network of machines without one. A sender exists while a request of its own does.
//
// A request over its sender's share is refused with 429; other senders notice nothing of that.
// Nothing here knows requests, sockets or threads. All but the queues belongs to one thread.
#pragma once

#include <stddef.h>

#include "server/common/error.h"

typedef enum { SENDER_NETWORK, SENDER_USER, SENDER_MACHINE, SENDER_KINDS } SenderKind;

enum {
    SENDER_NAME_MAX = 64,
    SENDER_LANES = 2, // queues that a sender may stand in at the same time
    MACHINE_JOBS_MAX = 8,
    OWNER_MACHINE_JOBS_MAX = 64, // of all machines of an owner
    VISITOR_JOBS_MAX = 64,       // of an account, or of a network: people with many tabs
    SENDER_STREAMS_MAX = 200,
    SENDER_BYTES_MAX = 32 << 20,
    NETWORK_BYTES_MAX = 8 << 20, // without an account all bodies are small
    SENDERS_BYTES_MAX = 128 << 20,
};

typedef struct Senders Senders;
typedef struct Sender Sender;

Senders *senders_new(void);
void senders_free(Senders *senders); // all have left
// The sender of this kind and name, for as long as the caller has not left it.
Sender *sender_enter(Senders *senders, SenderKind kind, const char *name, const char *owner);
void sender_leave(Sender *sender);
const char *sender_name(const Sender *sender);

// A job is a request that has arrived and is not answered; a claim that waits for work is none.
// False: 429, the sender or its owner has as many as it may.
bool sender_begin_job(Sender *sender, Error *err);
void sender_end_job(Sender *sender);
// Bytes of bodies that are held in memory. False: 429, and nothing is charged.
bool sender_take_bytes(Sender *sender, size_t size, Error *err);
void sender_give_bytes(Sender *sender, size_t size);
size_t sender_bytes(const Sender *sender);
// All together hold more than SENDERS_BYTES_MAX: who holds most should lose a request.
size_t senders_bytes(const Senders *senders);
bool senders_full(const Senders *senders);
// Requests in flight and event streams. False: 429. `max` is the operator's.
bool sender_begin_request(Sender *sender, int max, Error *err);
void sender_end_request(Sender *sender);
bool sender_begin_stream(Sender *sender, Error *err);
void sender_end_stream(Sender *sender);
int sender_streams(const Sender *sender);
// Of a machine one claim waits: returns the one that waited before `request`, or NULL.
void *sender_waits(Sender *sender, void *request);
void sender_waits_no_more(Sender *sender, const void *request);

// ---- queues -------------------------------------------------------------------------------------

// What waits for a thread. Owners take turns, and of an owner its senders take turns: ten thousand
// jobs of one owner delay another's by one. Each queue has a lane of its own in the senders; its
// caller holds a lock where threads share it.
typedef struct Job {
    Sender *sender;
    void *request; // the caller's
    struct Job *next;
} Job;

typedef struct JobQueue {
    int lane;
    int running_max; // jobs of one owner that may run at a time; 0: any number
    size_t count;
    struct Owner *first, *last;
} JobQueue;

void queue_push(JobQueue *queue, Job *job);
// The next whose owner may have one more running; NULL when there is none. It runs until
// queue_done.
Job *queue_pop(JobQueue *queue);
void queue_done(JobQueue *queue, const Job *job);
// Takes a job from the owner that has most of them queued, to be refused; NULL when empty.
Job *queue_drop(JobQueue *queue);
