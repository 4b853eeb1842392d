// One turn of the loop: the transaction that its requests share, the time that holds in it, and what
// is to happen once its COMMIT is on disk. Domain code takes a Turn and knows nothing of requests,
// threads and streams; the loop begins and commits the transaction and carries out the rest.
// A reader has a Turn as well, of its read-only database; it may read and has nothing to tell.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "server/db/db.h"

enum { TURN_TOKENS_MAX = 64 };

// A server-sent event that waits for the COMMIT.
typedef struct OutgoingEvent {
    char name[32];
    json_t *data;
} OutgoingEvent;

// {.db = db, .now = now} is a turn in which nothing has happened. turn_release() it unless nothing
// was published.
typedef struct Turn {
    Db *db;
    double now; // Unix seconds
    OutgoingEvent *events;
    size_t event_count, event_capacity;
    bool wakes;                           // there may be work for waiting claims
    bool moves_git;                       // a reference of a repository was set
    int64_t tokens_used[TURN_TOKENS_MAX]; // API tokens, to be noted
    int token_count;
} Turn;

void turn_publish(Turn *turn, const char *event, json_t *data); // steals `data`
void turn_wake(Turn *turn);
// Before a reference of a repository is set: should the request or its turn come to nothing, the
// references follow the database again.
void turn_moves_git(Turn *turn);
// That a token was used. Beyond TURN_TOKENS_MAX of a turn it is noted at its next use.
void turn_note_token(Turn *turn, int64_t token);
// Drops the events from number `from` on: those of a request that came to nothing.
void turn_forget_events(Turn *turn, size_t from);
void turn_release(Turn *turn);
