// Whether this server was reached from outside, and which machines get tasks because of that. The
// state begins "not reached", or at the first start of a server that says so itself
// (PATCHMATE_OUTSIDE, --trusted-proxy). The loop finds the first request that comes from outside
// (server/loop/reached.h). From then on the state stays: there is no way back. While the setting
// `trust` is not set, only machines of people with a role get tasks after that. Where it is set, it
// decides alone. The view `trust` of the schema says the same to queries.
#pragma once

#include <jansson.h>

#include "server/db/turn.h"

bool outside_is_reached(Db *db);
// Writes the state and an event, unless it was reached before. `reason` is a noun phrase of ours
// that completes "reached from outside:", without words of the request.
bool outside_reach(Turn *turn, const char *reason, Error *err);
// Whether the machine may get tasks. False: 403 `role_required`, with what to do.
bool outside_may_claim(Db *db, int64_t machine, Error *err);
// Whom this server trusts and why, in words for the operator: the member `trust` of GET health.
// NULL: the database does not answer.
json_t *outside_document(Db *db);
