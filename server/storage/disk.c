// See disk.h.
#include "server/storage/disk.h"

#include <math.h>
#include <string.h>
#include <sys/statvfs.h>

#include "server/common/log.h"
#include "server/loop/app.h"
#include "server/storage/sweeper.h"

enum { FLOOR_MOST_MIB = 2048, FLOOR_SHARE = 20, DROP_AFTER_S = 3600, LOOK_AGAIN_S = 60 };
static const int64_t mib = 1 << 20;
static const double gib = 1 << 30;

// ---- how much there is --------------------------------------------------------------------------

static int64_t floor_of(int64_t total, const char *floor_mib) {
    long value;
    if (parse_long(floor_mib, 0, INT32_MAX, &value))
        return value * mib;
    int64_t share = total / FLOOR_SHARE, most = FLOOR_MOST_MIB * mib;
    return share < most ? share : most;
}

// A file system that does not tell is taken to have room.
Disk disk_look(const char *data, const char *floor_mib) {
    struct statvfs fs;
    if (statvfs(data, &fs) < 0 || !fs.f_blocks)
        return (Disk){0};
    int64_t total = (int64_t)(fs.f_blocks * fs.f_frsize);
    return (Disk){(int64_t)(fs.f_bavail * fs.f_frsize), total, floor_of(total, floor_mib)};
}

bool disk_is_short(const Disk *disk) {
    return disk->free < disk->floor;
}

bool disk_is_low(const Disk *disk) {
    return disk->free < 2 * disk->floor;
}

Disk disk_of(Request *req) {
    return disk_look(app_data(req->app), app_setting(req, "disk_floor_mib", ""));
}

bool disk_check(Request *req, Response *res, Error *err) {
    Disk disk = disk_of(req);
    if (!disk_is_short(&disk))
        return true;
    response_header(res, "Retry-After", "60");
    return error_set(err, 503, "disk_short",
                     "the server's disk is nearly full: %.2f GiB are free and %.2f GiB are to stay "
                     "free; until there is room no task is dealt and no games, submissions or nets "
                     "are taken",
                     (double)disk.free / gib, (double)disk.floor / gib);
}

// ---- games that are dropped ---------------------------------------------------------------------

int64_t disk_drop_games(Turn *turn, const Disk *disk) {
    Error err;
    int64_t test = db_int(turn->db, SQL_DISK_TEST_TO_DROP, 0, "d", turn->now - DROP_AFTER_S);
    if (!test)
        return 0;
    int64_t batches = db_int(turn->db, SQL_DISK_GAMES_OF_TEST, 0, "i", test);
    if (!db_run(turn->db, &err, SQL_DISK_GAMES_DROPPED, "id", test, turn->now)) {
        log_error("the games of test %lld cannot be dropped: %s", (long long)test, err.message);
        return 0;
    }
    ledger_event(
        turn, "disk", 0, 0, test,
        "its games (batches: %lld) were dropped: %.2f GiB of the disk were free, less than "
        "twice the %.2f GiB that are to stay free",
        (long long)batches, (double)disk->free / gib, (double)disk->floor / gib);
    return test;
}

// Whether there is room changes for all workers: those who wait are told, and the log too.
static void note_change(App *app, Turn *turn, const Disk *disk) {
    bool is_short = disk_is_short(disk);
    if (is_short == app->disk_short)
        return;
    app->disk_short = is_short;
    app->drop_after = 0; // somebody has done something: look anew
    if (is_short)
        ledger_event(turn, "disk", 0, 0, 0,
                     "the disk is nearly full (%.2f GiB free): no task is dealt and no games, "
                     "submissions or nets are taken",
                     (double)disk->free / gib);
    else
        ledger_event(turn, "disk", 0, 0, 0, "the disk has room again (%.2f GiB free)",
                     (double)disk->free / gib);
    turn_wake(turn);
}

// What was dropped in an earlier turn, and so is committed, is removed by the sweeper.
static void drop_where_low(App *app, Turn *turn, const Disk *disk) {
    if (app->games_dropped) {
        app->games_dropped = false;
        sweeper_wake(app->sweeper);
    }
    if (!disk_is_low(disk) || turn->now < app->drop_after || sweeper_is_behind(app->sweeper))
        return;
    app->games_dropped = disk_drop_games(turn, disk) != 0;
    if (!app->games_dropped)
        app->drop_after = turn->now + LOOK_AGAIN_S;
}

void disk_tick(App *app, Turn *turn, double elapsed_s) {
    Error err;
    char *setting scope(free_ptr) = db_text(turn->db, SQL_SETTING_GET, "s", "disk_floor_mib");
    Disk disk = disk_look(app_data(app), setting ? setting : "");
    note_change(app, turn, &disk);
    if (disk_is_short(&disk) && elapsed_s > 0)
        db_run(turn->db, &err, SQL_LEDGER_LEASES_SHIFT, "d", elapsed_s);
    drop_where_low(app, turn, &disk);
}
