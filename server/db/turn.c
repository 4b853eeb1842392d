// See turn.h.
#include "server/db/turn.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/common/str.h"

void turn_publish(Turn *turn, const char *event, json_t *data) {
    if (turn->event_count == turn->event_capacity) {
        turn->event_capacity = turn->event_capacity ? 2 * turn->event_capacity : 16;
        turn->events = xrealloc(turn->events, turn->event_capacity * sizeof *turn->events);
    }
    OutgoingEvent *outgoing = &turn->events[turn->event_count++];
    snprintf(outgoing->name, sizeof outgoing->name, "%s", event);
    outgoing->data = data;
}

void turn_wake(Turn *turn) {
    turn->wakes = true;
}

void turn_moves_git(Turn *turn) {
    turn->moves_git = true;
}

void turn_note_token(Turn *turn, int64_t token) {
    if (turn->token_count < TURN_TOKENS_MAX)
        turn->tokens_used[turn->token_count++] = token;
}

void turn_forget_events(Turn *turn, size_t from) {
    while (turn->event_count > from)
        json_decref(turn->events[--turn->event_count].data);
}

void turn_release(Turn *turn) {
    turn_forget_events(turn, 0);
    free(turn->events);
    turn->events = NULL;
    turn->event_capacity = 0;
}
