// Who is believed. The word of a machine is not enough: a machine that reports 4096 cores may have
// none of them. What is believed is its owner, on one of three levels, which the view `levels` of
// the schema gives. The level is fixed when a task is dealt, and stands with everything that is
// sent for it: a click, a record or its loss changes only what is dealt afterwards.
#pragma once

#include "server/db/turn.h"

// How far an owner is believed. Proven means vouched for or recorded.
typedef enum {
    LEVEL_UNPROVEN,
    // An account that has earned a record by results that the server has checked. A rule of the
    // system, and not a setting: what a record permits was chosen for what gives one. A network
    // never has a record.
    LEVEL_RECORDED,
    // A maintainer vouches for the owner, or it is a person with a role, or an admin. While trust
    // is `private`, all owners. What a maintainer vouches for is not vouched for in tests of which
    // that maintainer is the author.
    LEVEL_VOUCHED,
} OwnerLevel;

// How much a machine may hold.
typedef enum {
    TRUST_NONE,    // none of its batches has counted yet
    TRUST_COUNTED, // at least one has
    TRUST_PROVEN,  // its owner is proven
} Trust;

Trust trust_of(bool has_counted, OwnerLevel level);
// Tasks that a machine may hold at one time. It gets a second task only after it has sent results.
enum { TASKS_MAX = 8 };
int trust_tasks_max(Trust trust);
// Cores that the scheduler counts at most, so that no machine can send many others to another test
// by a number that it invents.
int trust_cores_max(Trust trust);

// After a batch was counted: gives the owner a record if it has earned one.
bool trust_earn(Turn *turn, const char *owner, Error *err);
// After a batch whose games cannot have been played.
bool trust_lose(Turn *turn, const char *owner, Error *err);
