// One turn of the loop: the transaction that its requests share, its time, and the actions that
// follow its COMMIT. Domain code takes a Turn and knows nothing of requests, threads and streams.
// The loop begins and commits the transaction and carries out the actions. A reader has a Turn of
// its read-only database as well. It may read, and it publishes nothing.
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

// {.db = db, .now = now} is a turn in which nothing has happened. A turn in which something was
// published needs turn_release().
typedef struct Turn {
    Db *db;
    double now; // Unix seconds
    OutgoingEvent *events;
    size_t event_count, event_capacity;
    bool wakes;                           // waiting claims may get a task now
    bool moves_git;                       // a reference of a repository was set
    int64_t tokens_used[TURN_TOKENS_MAX]; // API tokens whose use is to be noted
    int token_count;
} Turn;

void turn_publish(Turn *turn, const char *event, json_t *data); // steals `data`
void turn_wake(Turn *turn);
// Call this before a reference of a repository is set. If the request or the turn fails afterwards,
// the references are set to what the database says again.
void turn_moves_git(Turn *turn);
// Notes that a token was used. Above TURN_TOKENS_MAX tokens in one turn, a token is noted at its
// next use.
void turn_note_token(Turn *turn, int64_t token);
// Drops the events from number `from` on: the events of a request that failed.
void turn_forget_events(Turn *turn, size_t from);
void turn_release(Turn *turn);
