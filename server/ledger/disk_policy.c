// See disk_policy.h.
#include "server/ledger/disk_policy.h"

#include "server/common/log.h"
#include "server/db/settings.h"
#include "server/ledger/ledger.h"
#include "sql/core.h"
#include "sql/ledger.h"

enum { DROP_AFTER_S = 3600, LOOK_AGAIN_S = 60, DAY_S = 86400 };
static const double gib = 1 << 30;

Disk disk_of(Db *db, const char *data) {
    return disk_look(data, setting_whole(db, SETTING_DISK_FLOOR_MIB));
}

bool disk_check(Db *db, const char *data, Error *err) {
    Disk disk = disk_of(db, data);
    return !disk_is_short(&disk) ||
           error_set(err, 503, "disk_short",
                     "the server's disk is nearly full: %.2f GiB are free and %.2f GiB must stay "
                     "free; until there is room, the server deals no tasks and takes no games, "
                     "submissions or nets",
                     (double)disk.free / gib, (double)disk.floor / gib);
}

int64_t disk_drop_games(Turn *turn, const Disk *disk) {
    Error err;
    int64_t test = sql_disk_test_to_drop(turn->db, 0, turn->now - DROP_AFTER_S);
    if (!test)
        return 0;
    int64_t batches = sql_disk_games_of_test(turn->db, 0, test);
    if (!sql_disk_games_dropped(turn->db, &err, .test = test, .now = turn->now)) {
        log_error("the games of test %lld cannot be dropped: %s", (long long)test, err.message);
        return 0;
    }
    ledger_event(
        turn, "disk", 0, 0, test,
        "its games (batches: %lld) were dropped: %.2f GiB of the disk were free, less than "
        "twice the %.2f GiB that must stay free",
        (long long)batches, (double)disk->free / gib, (double)disk->floor / gib);
    return test;
}

// A change of `short` concerns all workers: waiting claims are answered anew, and the event log
// records it.
static void note_change(DiskPolicy *policy, Turn *turn, const Disk *disk) {
    bool is_short = disk_is_short(disk);
    if (is_short == policy->is_short)
        return;
    policy->is_short = is_short;
    policy->drop_after = 0; // other files may be droppable now
    if (is_short)
        ledger_event(
            turn, "disk", 0, 0, 0,
            "the disk is nearly full (%.2f GiB free): the server deals no tasks and takes no "
            "games, submissions or nets",
            (double)disk->free / gib);
    else
        ledger_event(turn, "disk", 0, 0, 0, "the disk has room again (%.2f GiB free)",
                     (double)disk->free / gib);
    turn_wake(turn);
}

// The sweeper deletes the files of games that an earlier turn dropped: that turn is committed.
static void drop_where_low(DiskPolicy *policy, Turn *turn, const Disk *disk, Sweeper *sweeper) {
    if (policy->games_dropped) {
        policy->games_dropped = false;
        sweeper_wake(sweeper);
    }
    if (!disk_is_low(disk) || turn->now < policy->drop_after || sweeper_is_behind(sweeper))
        return;
    policy->games_dropped = disk_drop_games(turn, disk) != 0;
    if (!policy->games_dropped)
        policy->drop_after = turn->now + LOOK_AGAIN_S;
}

// The thread that prunes the repositories (submit/pruner.h) removes the references and the objects.
static void drop_patches(Turn *turn) {
    Error err;
    double days = (double)setting_whole(turn->db, SETTING_UNAPPROVED_DAYS);
    if (!sql_disk_patches_dropped(turn->db, &err, .now = turn->now,
                                  .before = turn->now - days * DAY_S))
        log_error("old patches cannot be dropped: %s", err.message);
}

void disk_policy_tick(DiskPolicy *policy, Turn *turn, const char *data, Sweeper *sweeper,
                      double elapsed_s) {
    Error err;
    Disk disk = disk_of(turn->db, data);
    note_change(policy, turn, &disk);
    if (disk_is_short(&disk) && elapsed_s > 0)
        sql_ledger_leases_shift(turn->db, &err, elapsed_s);
    drop_where_low(policy, turn, &disk, sweeper);
    drop_patches(turn);
}
