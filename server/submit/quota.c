// See quota.h.
#include "server/submit/quota.h"

#include <time.h>

#include "server/common/str.h"
#include "server/db/settings.h"
#include "sql/tests.h"

enum { HOUR_S = 3600, DAY_HOURS = 24 };
static const double mib = 1 << 20;

static int64_t hour_of(double time) {
    return (int64_t)time / HOUR_S;
}

static int64_t limit_of(Db *db) {
    return setting_whole(db, SETTING_SUBMIT_MIB_PER_DAY) << 20;
}

static int64_t used(Db *db, int64_t user, double now) {
    return sql_quota_used(db, 0, .user = user, .since = hour_of(now) - DAY_HOURS);
}

// The first hour in which what the user added before it has left `room` bytes free.
static time_t when_free(const Caller *caller, int64_t room, int64_t limit) {
    Db *db = caller->turn->db;
    int64_t user = caller->viewer->user_id, since = hour_of(caller->turn->now) - DAY_HOURS;
    int64_t left = used(db, user, caller->turn->now), hour = since;
    SqlQuotaHoursRows rows scope(sql_rows_end) = sql_quota_hours(db, .user = user, .since = since);
    while (left + room > limit && sql_quota_hours_next(&rows)) {
        hour = rows.row.hour;
        left -= rows.row.bytes;
    }
    return (time_t)(hour + DAY_HOURS) * HOUR_S;
}

bool quota_check(const Caller *caller, int64_t bytes, Error *err) {
    Db *db = caller->turn->db;
    int64_t limit = limit_of(db), sum = used(db, caller->viewer->user_id, caller->turn->now);
    if (sum + bytes <= limit)
        return true;
    if (bytes > limit)
        return error_field(err, 422, "patch_too_large", "patch",
                           "patch: it takes %.2f MiB of the server's disk, and one person may add "
                           "%.0f MiB in a day",
                           (double)bytes / mib, (double)limit / mib);
    char hour[32] = "";
    struct tm utc;
    time_t free_at = when_free(caller, bytes, limit);
    if (gmtime_r(&free_at, &utc))
        strftime(hour, sizeof hour, "%H:%M UTC on %Y-%m-%d", &utc);
    return error_set(
        err, 429, "too_much_submitted",
        "your submissions of the last day take %.2f MiB of the server's disk, this one "
        "takes %.2f MiB more, and %.0f MiB are the limit; try again after %s",
        (double)sum / mib, (double)bytes / mib, (double)limit / mib, hour);
}

bool quota_count(const Caller *caller, int64_t bytes, Error *err) {
    Db *db = caller->turn->db;
    int64_t hour = hour_of(caller->turn->now);
    return sql_quota_expire(db, err, hour - DAY_HOURS) &&
           sql_quota_add(db, err, .user = caller->viewer->user_id, .hour = hour, .bytes = bytes);
}

json_t *quota_of(Db *db, int64_t user, double now) {
    return json_pack("{s:I, s:I}", "bytes", (json_int_t)used(db, user, now), "bytes_max",
                     (json_int_t)limit_of(db));
}
