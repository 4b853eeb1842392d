// What the server does where the disk is nearly full. Below the floor it deals no task and takes no games,
// submissions or nets (503; workers keep their batches and send them again), while pages, approvals and merges go on.
// Below twice the floor it drops the games of finished tests, one test after the other. Results are never dropped.
// How much room there is: storage/disk.h.
#pragma once

#include "server/db/turn.h"
#include "server/storage/disk.h"
#include "server/storage/sweeper.h"

typedef struct DiskPolicy {
    bool is_short;      // as the last look found it
    bool games_dropped; // in the turn before
    double drop_after;  // before that time there is nothing to drop
} DiskPolicy;

// What is free, and the floor by the setting `disk_floor_mib`.
Disk disk_of(Db *db, const char *data);
// False while the disk is short: 503 `disk_short`, to be tried again in a minute.
bool disk_check(Db *db, const char *data, Error *err);

// Once a second, in the turn. While the disk is short, leases stand still: workers cannot hand in what they have. While
// it is low, games of one test after the other are dropped, each time the sweeper has caught up.
void disk_policy_tick(DiskPolicy *policy, Turn *turn, const char *data, Sweeper *sweeper,
                      double elapsed_s);
// Drops the games of the test that is next: of those that ended an hour ago or more, the one that ended first, and
// accepted and merged tests after all others. The id of the test; 0: there are no games to drop.
int64_t disk_drop_games(Turn *turn, const Disk *disk);
