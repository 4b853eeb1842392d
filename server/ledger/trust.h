// Who is believed. The word of a machine is not enough: a machine that reports 4096 cores may have
// none of them. An owner earns a record by results that the server has checked, and a record
// permits more. A rule of the system, and not a setting: what a record permits was chosen for what
// gives one. The view `proven_owners` says the same to queries.
#pragma once

#include "server/db/turn.h"

// How far a machine is trusted.
typedef enum {
    TRUST_NONE,    // none of its batches has counted yet
    TRUST_COUNTED, // at least one has
    TRUST_RECORD,  // its owner has a record
} Trust;

Trust trust_of(bool has_counted, bool has_record);
// Tasks that a machine may hold at one time. It gets a second task only after it has sent results.
enum { TASKS_MAX = 8 };
int trust_tasks_max(Trust trust);
// Cores that the scheduler counts at most, so that no machine can send many others to another test
// by a number that it invents.
int trust_cores_max(Trust trust);

// Whether the owner has a record now.
bool trust_is_proven(Db *db, const char *owner);
// After a batch was replayed: gives the owner a record if it has earned one.
bool trust_earn(Turn *turn, const char *owner, Error *err);
// After a batch was replayed and cannot have been played.
bool trust_lose(Turn *turn, const char *owner, Error *err);
