// See senders.h.
#include "server/http/senders.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/str.h"

enum { BUCKETS = 4096 };

// The jobs of one sender in a queue, and its place among the senders of its owner.
typedef struct Line {
    Job *first, *last;
    Sender *next;
} Line;

// The jobs of one owner in a queue, and its place among the owners. An owner without jobs has no
// place.
typedef struct OwnerJobs {
    Sender *first, *last;
    size_t queued;
    int running;
    struct Owner *next;
} OwnerJobs;

typedef struct Owner {
    char name[SENDER_NAME_MAX];
    int references, machine_jobs;
    OwnerJobs jobs[SENDER_LANES];
    Senders *of;
    struct Owner *next; // in its bucket
} Owner;

struct Sender {
    char name[SENDER_NAME_MAX];
    SenderKind kind;
    int references, jobs, requests, streams, downloads;
    size_t bytes;
    void *waiting;
    Owner *owner;
    Line lines[SENDER_LANES];
    Sender *next; // in its bucket
};

struct Senders {
    uint64_t seed; // random, so that clients cannot choose names of one bucket
    size_t bytes;
    Sender *senders[BUCKETS];
    Owner *owners[BUCKETS];
};

// ---- the table ----------------------------------------------------------------------------------

Senders *senders_new(void) {
    Senders *senders = xcalloc(1, sizeof *senders);
    random_bytes(&senders->seed, sizeof senders->seed);
    return senders;
}

void senders_free(Senders *senders) {
    free(senders);
}

static size_t bucket_of(const Senders *senders, const char *name) {
    return table_hash(senders->seed, name, strlen(name)) % BUCKETS;
}

static Owner *owner_enter(Senders *senders, const char *name) {
    Owner **bucket = &senders->owners[bucket_of(senders, name)], *owner = *bucket;
    while (owner && strncmp(owner->name, name, sizeof owner->name - 1) != 0)
        owner = owner->next;
    if (!owner) {
        owner = xcalloc(1, sizeof *owner);
        snprintf(owner->name, sizeof owner->name, "%s", name);
        owner->of = senders;
        owner->next = *bucket;
        *bucket = owner;
    }
    owner->references++;
    return owner;
}

static void owner_leave(Owner *owner) {
    if (--owner->references)
        return;
    Owner **at = &owner->of->owners[bucket_of(owner->of, owner->name)];
    while (*at != owner)
        at = &(*at)->next;
    *at = owner->next;
    free(owner);
}

Sender *sender_enter(Senders *senders, SenderKind kind, const char *name, const char *owner) {
    Sender **bucket = &senders->senders[bucket_of(senders, name)], *sender = *bucket;
    while (sender && (strncmp(sender->name, name, sizeof sender->name - 1) != 0 ||
                      strncmp(sender->owner->name, owner, sizeof sender->owner->name - 1) != 0))
        sender = sender->next;
    if (!sender) {
        sender = xcalloc(1, sizeof *sender);
        snprintf(sender->name, sizeof sender->name, "%s", name);
        sender->kind = kind;
        sender->owner = owner_enter(senders, owner);
        sender->next = *bucket;
        *bucket = sender;
    }
    sender->references++;
    return sender;
}

void sender_leave(Sender *sender) {
    if (!sender || --sender->references)
        return;
    Sender **at = &sender->owner->of->senders[bucket_of(sender->owner->of, sender->name)];
    while (*at != sender)
        at = &(*at)->next;
    *at = sender->next;
    owner_leave(sender->owner);
    free(sender);
}

const char *sender_name(const Sender *sender) {
    return sender->name;
}

// ---- limits of one sender -----------------------------------------------------------------------

bool sender_begin_job(Sender *sender, Error *err) {
    bool is_machine = sender->kind == SENDER_MACHINE;
    int max = is_machine ? MACHINE_JOBS_MAX : VISITOR_JOBS_MAX;
    if (sender->jobs >= max)
        return error_set(err, 429, "too_many_requests",
                         "%d requests of this %s are being answered; send fewer at a time", max,
                         is_machine                    ? "machine"
                         : sender->kind == SENDER_USER ? "account"
                                                       : "address");
    if (is_machine && sender->owner->machine_jobs >= OWNER_MACHINE_JOBS_MAX)
        return error_set(err, 429, "too_many_requests",
                         "%d requests of this owner's machines are being answered; try again in a "
                         "moment",
                         OWNER_MACHINE_JOBS_MAX);
    sender->jobs++;
    sender->owner->machine_jobs += is_machine;
    return true;
}

void sender_end_job(Sender *sender) {
    sender->jobs--;
    sender->owner->machine_jobs -= sender->kind == SENDER_MACHINE;
}

bool sender_take_bytes(Sender *sender, size_t size, Error *err) {
    size_t max = sender->kind == SENDER_NETWORK ? NETWORK_BYTES_MAX : SENDER_BYTES_MAX;
    if (sender->bytes + size > max)
        return error_set(err, 429, "too_much_at_once",
                         "other requests of yours are still arriving, together over %zu MiB; send "
                         "fewer at a time",
                         max >> 20);
    sender->bytes += size;
    sender->owner->of->bytes += size;
    return true;
}

void sender_give_bytes(Sender *sender, size_t size) {
    sender->bytes -= size;
    sender->owner->of->bytes -= size;
}

size_t sender_bytes(const Sender *sender) {
    return sender->bytes;
}

size_t senders_bytes(const Senders *senders) {
    return senders->bytes;
}

bool senders_full(const Senders *senders) {
    return senders->bytes > SENDERS_BYTES_MAX;
}

bool sender_begin_request(Sender *sender, int max, Error *err) {
    if (sender->requests >= max)
        return error_set(err, 429, "too_many_requests",
                         "%d requests of this address are open; send fewer at a time", max);
    sender->requests++;
    return true;
}

void sender_end_request(Sender *sender) {
    sender->requests--;
}

bool sender_begin_stream(Sender *sender, Error *err) {
    if (sender->streams >= SENDER_STREAMS_MAX)
        return error_set(err, 429, "too_many_streams", "%d streams of this address are open",
                         SENDER_STREAMS_MAX);
    sender->streams++;
    return true;
}

void sender_end_stream(Sender *sender) {
    sender->streams--;
}

int sender_streams(const Sender *sender) {
    return sender->streams;
}

bool sender_begin_download(Sender *sender, Error *err) {
    if (sender->downloads >= SENDER_DOWNLOADS_MAX)
        return error_set(err, 429, "too_many_downloads",
                         "%d downloads of this address are under way; start this one when one of "
                         "them has ended",
                         SENDER_DOWNLOADS_MAX);
    sender->downloads++;
    return true;
}

void sender_end_download(Sender *sender) {
    sender->downloads--;
}

int sender_downloads(const Sender *sender) {
    return sender->downloads;
}

void *sender_waits(Sender *sender, void *request) {
    void *before = sender->waiting;
    sender->waiting = request;
    return before == request ? NULL : before;
}

void sender_waits_no_more(Sender *sender, const void *request) {
    if (sender->waiting == request)
        sender->waiting = NULL;
}

// ---- queues -------------------------------------------------------------------------------------

static void owner_push(JobQueue *queue, Owner *owner) {
    owner->jobs[queue->lane].next = NULL;
    if (queue->last)
        queue->last->jobs[queue->lane].next = owner;
    else
        queue->first = owner;
    queue->last = owner;
}

static Owner *owner_pop(JobQueue *queue) {
    Owner *owner = queue->first;
    queue->first = owner->jobs[queue->lane].next;
    if (!queue->first)
        queue->last = NULL;
    return owner;
}

static void sender_push(int lane, OwnerJobs *jobs, Sender *sender) {
    sender->lines[lane].next = NULL;
    if (jobs->last)
        jobs->last->lines[lane].next = sender;
    else
        jobs->first = sender;
    jobs->last = sender;
}

static Sender *sender_pop(int lane, OwnerJobs *jobs) {
    Sender *sender = jobs->first;
    jobs->first = sender->lines[lane].next;
    if (!jobs->first)
        jobs->last = NULL;
    return sender;
}

void queue_push(JobQueue *queue, Job *job) {
    Sender *sender = job->sender;
    Line *line = &sender->lines[queue->lane];
    OwnerJobs *jobs = &sender->owner->jobs[queue->lane];
    if (!jobs->queued)
        owner_push(queue, sender->owner);
    if (!line->first)
        sender_push(queue->lane, jobs, sender);
    job->next = NULL;
    *(line->first ? &line->last->next : &line->first) = job;
    line->last = job;
    jobs->queued++;
    queue->count++;
}

// Takes the oldest job of the owner's next sender, and puts this sender last among the owner's
// senders. The place of the owner does not change.
static Job *owner_take(JobQueue *queue, Owner *owner) {
    int lane = queue->lane;
    OwnerJobs *jobs = &owner->jobs[lane];
    Sender *sender = sender_pop(lane, jobs);
    Job *job = sender->lines[lane].first;
    sender->lines[lane].first = job->next;
    if (job->next)
        sender_push(lane, jobs, sender);
    jobs->queued--;
    queue->count--;
    return job;
}

// An owner that has as many running jobs as allowed goes to the end: it has just had its turn.
Job *queue_pop(JobQueue *queue) {
    Owner *last = queue->last;
    for (Owner *owner = NULL; queue->first && owner != last;) {
        owner = owner_pop(queue);
        OwnerJobs *jobs = &owner->jobs[queue->lane];
        bool may = !queue->running_max || jobs->running < queue->running_max;
        Job *job = may ? owner_take(queue, owner) : NULL;
        if (jobs->queued)
            owner_push(queue, owner);
        jobs->running += may;
        if (job)
            return job;
    }
    return NULL;
}

void queue_done(JobQueue *queue, const Job *job) {
    job->sender->owner->jobs[queue->lane].running--;
}

Job *queue_drop(JobQueue *queue) {
    Owner *most = queue->first, *last = queue->last;
    for (Owner *owner = most; owner; owner = owner->jobs[queue->lane].next)
        if (owner->jobs[queue->lane].queued > most->jobs[queue->lane].queued)
            most = owner;
    if (!most)
        return NULL;
    Job *job = owner_take(queue, most);
    for (Owner *owner = NULL; owner != last;) {
        owner = owner_pop(queue);
        if (owner->jobs[queue->lane].queued)
            owner_push(queue, owner);
    }
    return job;
}
