// The server's policy when the disk is nearly full. Below the floor the server deals no tasks and
// refuses games, submissions and nets (503; workers keep their batches and send them again). Pages,
// approvals and merges continue. Below twice the floor it drops the games of finished tests, one
// test at a time. It never drops results. storage/disk.h measures the free space.
// However much is free, it drops the patches of tests that were stopped a week ago or more (setting
// `unapproved_days`) and are not approved.
#pragma once

#include "server/db/turn.h"
#include "server/storage/disk.h"
#include "server/storage/sweeper.h"

typedef struct DiskPolicy {
    bool is_short;      // at the last look
    bool games_dropped; // in the last turn
    double drop_after;  // until this time there is nothing to drop
} DiskPolicy;

// The free space, and the floor from the setting `disk_floor_mib`.
Disk disk_of(Db *db, const char *data);
// False while the disk is short: 503 `disk_short`; the caller tries again in a minute.
bool disk_check(Db *db, const char *data, Error *err);

// Call this once a second, in the turn. While the disk is short, leases do not run, because workers
// cannot send their results. While it is low, the games of one test at a time are dropped, whenever
// the sweeper has finished the previous one. Old patches that were not approved are dropped.
void disk_policy_tick(DiskPolicy *policy, Turn *turn, const char *data, Sweeper *sweeper,
                      double elapsed_s);
// Drops the games of the next test. Of the tests that ended an hour ago or more, the one that ended
// first comes first, and accepted and merged tests come last. Returns the id of the test; 0: there
// are no games to drop.
int64_t disk_drop_games(Turn *turn, const Disk *disk);
