// Senders: the server charges its memory, its readers' time and its connections to senders, and
// limits the share of one sender. A sender is the machine or the account of a valid token or
// session, or else the network of the address. Its owner may have many senders: an owner is an
// account, or the network of machines without an account. A sender exists as long as one of its
// requests does.
//
// A request above the share of its sender is refused with 429; other senders are not affected. This
// module knows no requests, sockets or threads. Everything except the queues belongs to one thread.
#pragma once

#include <stddef.h>

#include "server/common/error.h"

typedef enum { SENDER_NETWORK, SENDER_USER, SENDER_MACHINE, SENDER_KINDS } SenderKind;

enum {
    SENDER_NAME_MAX = 64,
    SENDER_LANES = 3, // queues in which a sender may have jobs at the same time
    MACHINE_JOBS_MAX = 8,
    OWNER_MACHINE_JOBS_MAX = 64, // of all machines of an owner
    VISITOR_JOBS_MAX = 64,       // of an account, or of a network: people with many tabs
    SENDER_STREAMS_MAX = 200,
    SENDER_DOWNLOADS_MAX = 8, // replies that come part by part
    SENDER_BYTES_MAX = 32 << 20,
    NETWORK_BYTES_MAX = 8 << 20, // bodies of callers without an account are small
    SENDERS_BYTES_MAX = 128 << 20,
};

typedef struct Senders Senders;
typedef struct Sender Sender;

Senders *senders_new(void);
void senders_free(Senders *senders); // after the last sender_leave()
// The sender of this kind and name. The caller must leave it later.
Sender *sender_enter(Senders *senders, SenderKind kind, const char *name, const char *owner);
void sender_leave(Sender *sender);
const char *sender_name(const Sender *sender);

// A job is a request that has arrived and has no answer yet. A claim that waits for a task is not a
// job. False: 429, the sender or its owner has too many jobs.
bool sender_begin_job(Sender *sender, Error *err);
void sender_end_job(Sender *sender);
// Charges bytes of a body that is held in memory. False: 429, and nothing is charged.
bool sender_take_bytes(Sender *sender, size_t size, Error *err);
void sender_give_bytes(Sender *sender, size_t size);
size_t sender_bytes(const Sender *sender);
// Full: all senders together hold more than SENDERS_BYTES_MAX. Then the sender that holds most
// should lose a request.
size_t senders_bytes(const Senders *senders);
bool senders_full(const Senders *senders);
// Counts requests in progress and event streams. False: 429. `max` is the operator's setting.
bool sender_begin_request(Sender *sender, int max, Error *err);
void sender_end_request(Sender *sender);
bool sender_begin_stream(Sender *sender, Error *err);
void sender_end_stream(Sender *sender);
int sender_streams(const Sender *sender);
bool sender_begin_download(Sender *sender, Error *err);
void sender_end_download(Sender *sender);
int sender_downloads(const Sender *sender);
// One claim of a machine may wait. Returns the claim that waited before `request`, or NULL.
void *sender_waits(Sender *sender, void *request);
void sender_waits_no_more(Sender *sender, const void *request);

// ---- queues -------------------------------------------------------------------------------------

// Jobs that wait for a thread. Owners take turns, and so do the senders of an owner: ten thousand
// jobs of one owner delay another owner's job by one job. Each queue has its own lane in the
// senders. If threads share a queue, its caller holds a lock.
typedef struct Job {
    Sender *sender;
    void *request; // private to the caller
    struct Job *next;
} Job;

typedef struct JobQueue {
    int lane;
    int running_max; // jobs of one owner that may run at one time; 0: any number
    size_t count;
    struct Owner *first, *last;
} JobQueue;

void queue_push(JobQueue *queue, Job *job);
// The next job whose owner may have one more running job; NULL if there is none. The job runs until
// queue_done().
Job *queue_pop(JobQueue *queue);
void queue_done(JobQueue *queue, const Job *job);
// Takes a job of the owner with the most queued jobs, so that it can be refused; NULL if empty.
Job *queue_drop(JobQueue *queue);
