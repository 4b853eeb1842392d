// See settings.h.
#include "server/db/settings.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "server/common/one_line.h"
#include "server/common/str.h"
#include "sql/core.h"

// clang-format off
static const SettingRow rows[SETTING_COUNT] = {
    [SETTING_NAME] = {
        .name = "name", .type = SETTING_IS_TEXT, .low = 1, .high = 60, .fallback = "Patchmate",
        .help = "what the pages call this server"},
    [SETTING_SIGNUP] = {
        .name = "signup", .type = SETTING_IS_WORD, .words = "open|approved|closed",
        .fallback = "open",
        .help = "who may create accounts: everyone, everyone with an admin's approval, or only "
                "the operator"},
    [SETTING_SUBMIT] = {
        .name = "submit", .type = SETTING_IS_WORD, .words = "developers|open",
        .fallback = "developers",
        .help = "who may submit tests: users with the role developer, or all users"},
    [SETTING_PENDING_TESTS_OPEN] = {
        .name = "pending_tests_open", .type = SETTING_IS_WHOLE, .low = 1, .high = 1000000,
        .fallback = "3",
        .help = "tests of a user without a role that may wait for approval, where `submit` is "
                "`open`"},
    [SETTING_PENDING_TESTS] = {
        .name = "pending_tests", .type = SETTING_IS_WHOLE, .low = 1, .high = 1000000,
        .fallback = "20",
        .help = "tests of one user that may wait for approval"},
    [SETTING_SUBMIT_MIB_PER_DAY] = {
        .name = "submit_mib_per_day", .type = SETTING_IS_WHOLE, .low = 1, .high = 1 << 20,
        .fallback = "64",
        .help = "MiB that the submissions of one user may add to the disk in a day, nets apart"},
    [SETTING_UNAPPROVED_DAYS] = {
        .name = "unapproved_days", .type = SETTING_IS_WHOLE, .low = 1, .high = 36500,
        .fallback = "7",
        .help = "days after which the patch of a test that was stopped and not approved is "
                "deleted"},
    [SETTING_SELF_APPROVAL] = {
        .name = "self_approval", .type = SETTING_IS_WHOLE, .low = 0, .high = 1, .fallback = "0",
        .help = "1: authors may approve their own tests"},
    [SETTING_ACCOUNTS_REQUIRED] = {
        .name = "accounts_required", .type = SETTING_IS_WHOLE, .low = 0, .high = 1,
        .fallback = "0",
        .help = "1: a worker needs the token of a user"},
    [SETTING_TRUST] = {
        .name = "trust", .type = SETTING_IS_WORD, .words = "unset|private|public",
        .fallback = "unset",
        .help = "private: every machine that registers is vouched for. public: machines earn "
                "trust. unset: private until the server is reached from outside, then only "
                "machines of people with a role get tasks"},
    [SETTING_REGISTRATIONS_PER_HOUR] = {
        .name = "registrations_per_hour", .type = SETTING_IS_WHOLE, .low = 0, .high = 1000000,
        .fallback = "200",
        .help = "new machines that may register from one network in an hour"},
    [SETTING_WRITES_PER_MINUTE] = {
        .name = "writes_per_minute", .type = SETTING_IS_WHOLE, .low = 1, .high = 1000000,
        .fallback = "300",
        .help = "forms, POST requests and sign-ins of one address in a minute"},
    [SETTING_TASK_SECONDS] = {
        .name = "task_seconds", .type = SETTING_IS_WHOLE, .low = 1, .high = 86400,
        .fallback = "1800",
        .help = "how long a worker should play one task"},
    [SETTING_SANDBOX_MIN] = {
        .name = "sandbox_min", .type = SETTING_IS_WHOLE, .low = 0, .high = 2, .fallback = "0",
        .help = "the sandbox level that a worker must have to get tasks"},
    [SETTING_DISK_FLOOR_MIB] = {
        .name = "disk_floor_mib", .type = SETTING_IS_WHOLE, .low = -1, .high = 1 << 30,
        .fallback = "-1",
        .help = "MiB of the disk that stay free; with less, the server takes no games; -1: 2048 "
                "or 5 % of the disk, whichever is less"},
    [SETTING_EVENT_DAYS] = {
        .name = "event_days", .type = SETTING_IS_WHOLE, .low = 1, .high = 36500, .fallback = "90",
        .help = "days for which the event log keeps routine events, such as expired tasks and "
                "changes of a test; decisions are kept for ever"},
    [SETTING_RERUN_PERCENT] = {
        .name = "rerun_percent", .type = SETTING_IS_WHOLE, .low = 0, .high = 100, .fallback = "10",
        .help = "of all claims, how many may first get games that are played again; 0: none are"},
    [SETTING_FLAG_BUSY] = {
        .name = "flag_busy", .type = SETTING_IS_REAL, .low = 0, .high = 1, .fallback = "0.1",
        .help = "a batch is flagged if other programs took a larger share of the CPU time"},
    [SETTING_FLAG_SLOW] = {
        .name = "flag_slow", .type = SETTING_IS_REAL, .low = 0, .high = 1, .fallback = "0.25",
        .help = "a batch is flagged if the speed fell by a larger share since the task began"},
    [SETTING_FLAG_SWAP_MIB] = {
        .name = "flag_swap_mib", .type = SETTING_IS_WHOLE, .low = 0, .high = 1000000,
        .fallback = "64",
        .help = "a batch is flagged if more MiB were swapped in meanwhile"},
};
// clang-format on

const SettingRow *setting_row(Setting setting) {
    return &rows[setting];
}

bool setting_find(const char *name, Setting *out) {
    for (int i = 0; i < SETTING_COUNT; i++)
        if (!strcmp(rows[i].name, name)) {
            *out = (Setting)i;
            return true;
        }
    return false;
}

const char *setting_bounds(Setting setting, SettingBounds room) {
    const SettingRow *row = &rows[setting];
    if (row->type == SETTING_IS_WORD)
        return row->words;
    snprintf(room, sizeof(SettingBounds), "%.12g to %.12g%s", row->low, row->high,
             row->type == SETTING_IS_TEXT ? " bytes" : "");
    return room;
}

static bool is_one_of(const char *value, const char *words) {
    size_t size = strlen(value);
    for (const char *p = words; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (size && strcspn(p, "|") == size && !strncmp(p, value, size))
            return true;
    return false;
}

bool setting_fits(Setting setting, const char *value) {
    const SettingRow *row = &rows[setting];
    long whole;
    double real;
    Error ignored;
    switch (row->type) {
    case SETTING_IS_WHOLE:
        return parse_long(value, (long)row->low, (long)row->high, &whole);
    case SETTING_IS_REAL:
        return parse_double(value, row->low, row->high, &real);
    case SETTING_IS_WORD:
        return is_one_of(value, row->words);
    case SETTING_IS_TEXT:
        return one_line_check(row->name, value, (size_t)row->low, (size_t)row->high, &ignored);
    }
    return false;
}

// ---- reading ------------------------------------------------------------------------------------

// Several threads read settings. The warning comes again only if the value was good in between.
static void note_value(Setting setting, const char *value, bool is_good) {
    static atomic_bool warned[SETTING_COUNT];
    SettingBounds room;
    if (!atomic_exchange(&warned[setting], !is_good) && !is_good)
        log_warn("the setting %s is '%s' in the database, which is not one of its values (%s): "
                 "its default counts, %s",
                 rows[setting].name, value, setting_bounds(setting, room), rows[setting].fallback);
}

static char *value_of(Db *db, Setting setting) {
    char *value = db ? sql_setting_get(db, rows[setting].name) : NULL;
    if (!value)
        return xstrdup(rows[setting].fallback);
    bool is_good = setting_fits(setting, value);
    note_value(setting, value, is_good);
    if (is_good)
        return value;
    free(value);
    return xstrdup(rows[setting].fallback);
}

int64_t setting_whole(Db *db, Setting setting) {
    long whole = 0;
    assert(rows[setting].type == SETTING_IS_WHOLE);
    char *value scope(free_ptr) = value_of(db, setting);
    parse_long(value, (long)rows[setting].low, (long)rows[setting].high, &whole);
    return whole;
}

double setting_real(Db *db, Setting setting) {
    double real = 0;
    assert(rows[setting].type == SETTING_IS_REAL);
    char *value scope(free_ptr) = value_of(db, setting);
    parse_double(value, rows[setting].low, rows[setting].high, &real);
    return real;
}

char *setting_text(Db *db, Setting setting) {
    assert(rows[setting].type == SETTING_IS_WORD || rows[setting].type == SETTING_IS_TEXT);
    return value_of(db, setting);
}

bool setting_is(Db *db, Setting setting, const char *word) {
    assert(rows[setting].type == SETTING_IS_WORD && is_one_of(word, rows[setting].words));
    char *value scope(free_ptr) = value_of(db, setting);
    return !strcmp(value, word);
}

// ---- writing ------------------------------------------------------------------------------------

bool setting_write(Db *db, Setting setting, const char *value, Error *err) {
    SettingBounds room;
    if (!setting_fits(setting, value))
        return error_set(err, 422, "bad_field", "'%s' is not a value of the setting %s: %s", value,
                         rows[setting].name, setting_bounds(setting, room));
    return sql_setting_set(db, err, .name = rows[setting].name, .value = value);
}
