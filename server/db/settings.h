// The operator's settings (table `settings`). The table in settings.c has a row for each of them:
// its name, its type, its bounds, its default and its help. These stand nowhere else, so the server
// that reads a setting and `server set` that lists and writes it cannot disagree. A running server
// sees a change at once.
//
// A setting that is not set has its default. So has a setting whose value in the database is not
// within its bounds (edited by hand, or written by an older version). Then the log has one warning.
#pragma once

#include "server/db/db.h"

// In the order in which `server set` lists them.
typedef enum Setting {
    SETTING_NAME,
    SETTING_SIGNUP,
    SETTING_SUBMIT,
    SETTING_PENDING_TESTS_OPEN,
    SETTING_PENDING_TESTS,
    SETTING_SUBMIT_MIB_PER_DAY,
    SETTING_UNAPPROVED_DAYS,
    SETTING_SELF_APPROVAL,
    SETTING_ACCOUNTS_REQUIRED,
    SETTING_TRUST, // the view `trust` of the schema says what it means
    SETTING_REGISTRATIONS_PER_HOUR,
    SETTING_WRITES_PER_MINUTE,
    SETTING_TASK_SECONDS,
    SETTING_SANDBOX_MIN,
    SETTING_DISK_FLOOR_MIB,
    SETTING_EVENT_DAYS,
    SETTING_RERUN_PERCENT,
    SETTING_FLAG_BUSY,
    SETTING_FLAG_SLOW,
    SETTING_FLAG_SWAP_MIB,
    SETTING_COUNT
} Setting;

// Reads a setting; NULL for `db`: the default. The caller must read it as its own
// type.
int64_t setting_whole(Db *db, Setting setting);
double setting_real(Db *db, Setting setting);
char *setting_text(Db *db, Setting setting); // also of a setting of words; never NULL
// Whether a setting of words has this one. The word must be one of the setting's.
bool setting_is(Db *db, Setting setting, const char *word);

// Writes a setting. False if the value is not within its bounds: 422 `bad_field`.
bool setting_write(Db *db, Setting setting, const char *value, Error *err);

// ---- for lists of settings ----------------------------------------------------------------------

typedef enum SettingType {
    SETTING_IS_WHOLE, // a whole number from low to high
    SETTING_IS_REAL,  // a number from low to high
    SETTING_IS_WORD,  // one of `words`, which stand between bars: "open|closed"
    SETTING_IS_TEXT,  // one line of low to high bytes
} SettingType;

typedef struct SettingRow {
    const char *name;
    SettingType type;
    double low, high; // whole numbers stay below 2^53
    const char *words;
    const char *fallback; // the default, as text that fits the bounds
    const char *help;
} SettingRow;

const SettingRow *setting_row(Setting setting);
bool setting_find(const char *name, Setting *out); // false: there is no such setting
bool setting_fits(Setting setting, const char *value);
// "1 to 86400", "open|closed": borrowed from `room` or from the row.
typedef char SettingBounds[64];
const char *setting_bounds(Setting setting, SettingBounds room);
