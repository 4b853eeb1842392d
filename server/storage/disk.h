// How much room the file system of DATA has left, and what the server does where it is little:
// under the floor it deals no task and takes no games, submissions or nets (503; workers keep their
// batches and send them again), while pages, approvals and merges go on; under twice the floor it
// drops the games of finished tests. Results are never dropped.
#pragma once

#include "server/http/handler.h"
#include "server/ledger/ledger.h"

// In bytes. `floor`: what is to stay free, by the setting `disk_floor_mib` or, where that is not
// set, the lesser of 2 GiB and a twentieth of the file system; 0: nothing.
typedef struct Disk {
    int64_t free, total, floor;
} Disk;

Disk disk_look(const char *data, const char *floor_mib); // the setting; "": not set
bool disk_is_short(const Disk *disk);                    // less than the floor is free
bool disk_is_low(const Disk *disk);                      // less than twice the floor

Disk disk_of(Request *req);
// False while the disk is short: 503 `disk_short`, to be tried again in a minute.
bool disk_check(Request *req, Response *res, Error *err);

// Once a second, in the turn. While the disk is short, leases stand still: workers cannot hand in
// what they have. While it is low, games of one test after the other are dropped, each time the
// sweeper has caught up.
void disk_tick(App *app, Turn *turn, double elapsed_s);
// Drops the games of the test whose turn it is: of those that ended an hour ago or more, the one
// that ended first, and accepted and merged tests after all others. The id of the test; 0: there
// are no games to drop.
int64_t disk_drop_games(Turn *turn, const Disk *disk);
