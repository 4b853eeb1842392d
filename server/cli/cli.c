// Functions that the commands share, and two small commands: set and check. See cli.h.
#include "server/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/accounts/password.h"
#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/common/str.h"
#include "server/ledger/ledger.h"

int command_failed(const Error *err) {
    fprintf(stderr, "server: %s\n", err->message);
    return 1;
}

Db *command_database(const char *data) {
    Error err;
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    if (access(path, F_OK) < 0) {
        fprintf(stderr, "server: there is no installation in %s\n", data);
        return NULL;
    }
    Db *db = db_open(path, false, &err);
    if (!db)
        command_failed(&err);
    return db;
}

char *command_password(const char *file, bool *made) {
    Error err;
    char token[TOKEN_MAX];
    *made = !file;
    if (!file)
        return xstrndup(token_random(token), 16);
    char *text = file_read(strcmp(file, "-") ? file : "/dev/stdin", 4096, NULL, &err);
    if (text)
        text[strcspn(text, "\r\n")] = 0;
    if (text && password_check(text, &err))
        return text;
    free(text);
    command_failed(&err);
    return NULL;
}

// ---- set ----------------------------------------------------------------------------------------

static const char SHARE[] = "0 to 1";

static const struct Setting {
    const char *name, *values; // values NULL: a whole number from low to high
    long low, high;
    const char *fallback, *help;
} settings[] = {
    {"signup", "open|approved|closed", 0, 0, "open",
     "who may create accounts: everyone, everyone with an admin's approval, or only the operator"},
    {"submit", "developers|open", 0, 0, "developers",
     "who may submit tests: users with the role developer, or all users"},
    {"pending_tests", NULL, 1, 1000000, "20", "tests of one user that may wait for approval"},
    {"submit_mib_per_day", NULL, 1, 1 << 20, "64",
     "MiB that the submissions of one user may add to the disk in a day, nets apart"},
    {"unapproved_days", NULL, 1, 36500, "7",
     "days after which the patch of a test that was stopped and not approved is deleted"},
    {"self_approval", "0|1", 0, 0, "0", "1: authors may approve their own tests"},
    {"accounts_required", "0|1", 0, 0, "0", "1: a worker needs the token of a user"},
    {"registrations_per_hour", NULL, 0, 1000000, "200",
     "new machines that may register from one network in an hour"},
    {"writes_per_minute", NULL, 1, 1000000, "300",
     "forms, POST requests and sign-ins of one address in a minute"},
    {"task_seconds", NULL, 1, 86400, "1800", "how long a worker should play one task"},
    {"margin_ms", NULL, 0, 60000, "200",
     "milliseconds over the clock before a game is lost on time"},
    {"sandbox_min", "0|1|2", 0, 0, "0", "the sandbox level that a worker must have to get tasks"},
    {"replay_share", SHARE, 0, 0, "0.1",
     "the share of batches whose games the server replays; 0: none"},
    {"disk_floor_mib", NULL, 0, 1 << 30, "2048 or 5 % of the disk, whichever is less",
     "MiB of the disk that stay free; with less, the server takes no games"},
    {"event_days", NULL, 1, 36500, "90",
     "days for which the event log keeps routine events, such as expired tasks and changes of a "
     "test; decisions are kept for ever"},
    {"flag_busy", SHARE, 0, 0, "0.1",
     "a batch is flagged if other programs took a larger share of the CPU time"},
    {"flag_slow", SHARE, 0, 0, "0.25",
     "a batch is flagged if the speed fell by a larger share since the task began"},
    {"flag_swap_mib", NULL, 0, 1000000, "64",
     "a batch is flagged if more MiB were swapped in meanwhile"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static bool is_one_of(const char *value, const char *values) {
    size_t size = strlen(value);
    for (const char *p = values; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (size && strcspn(p, "|") == size && !strncmp(p, value, size))
            return true;
    return false;
}

static bool setting_fits(const struct Setting *setting, const char *value) {
    long number;
    double share;
    if (setting->values == SHARE)
        return parse_double(value, 0, 1, &share);
    return setting->values ? is_one_of(value, setting->values)
                           : parse_long(value, setting->low, setting->high, &number);
}

static void setting_explain(FILE *out, const struct Setting *setting) {
    fprintf(out, "  %s ", setting->name);
    if (setting->values)
        fprintf(out, "%s", setting->values);
    else
        fprintf(out, "%ld to %ld", setting->low, setting->high);
    fprintf(out, " (default: %s)\n      %s\n", setting->fallback, setting->help);
}

static bool setting_check(const char *name, const char *value) {
    for (int i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].name, name) != 0)
            continue;
        if (setting_fits(&settings[i], value))
            return true;
        fprintf(stderr, "server: '%s' is not a value of this setting:\n", value);
        setting_explain(stderr, &settings[i]);
        return false;
    }
    fprintf(stderr, "server: there is no setting %s; `server set DATA` lists the settings\n", name);
    return false;
}

static int settings_list(Db *db) {
    puts("Settings that are set:");
    for (Query q = query(db, SQL_SETTINGS_ALL, ""); query_step(&q);)
        printf("  %s %s\n", query_text(&q, COL_SETTINGS_ALL_NAME),
               query_text(&q, COL_SETTINGS_ALL_VALUE));
    puts("\nAll settings, their values and defaults:");
    for (int i = 0; i < SETTINGS; i++)
        setting_explain(stdout, &settings[i]);
    return 0;
}

int command_set(int argc, char **argv) {
    Error err;
    if (argc != 2 && argc != 4)
        return 2;
    if (argc == 4 && !setting_check(argv[2], argv[3]))
        return 1;
    Db *db = command_database(argv[1]);
    if (!db)
        return 1;
    int status = 0;
    if (argc == 2)
        status = settings_list(db);
    else if (!db_run(db, &err, SQL_SETTING_SET, "ss", argv[2], argv[3]))
        status = command_failed(&err);
    db_close(db);
    return status;
}

// ---- check --------------------------------------------------------------------------------------

// Prints and counts the rows of a check whose text in `column` is not `fine` (NULL: all rows).
static int count_rows(Db *db, SqlId id, int column, const char *fine) {
    int count = 0;
    for (Query q = query(db, id, ""); query_step(&q);) {
        if (fine && !strcmp(query_text(&q, column), fine))
            continue;
        printf("%s %s\n", query_text(&q, column),
               fine ? "" : "refers to a row that does not exist");
        count++;
    }
    return count;
}

int command_check(int argc, char **argv) {
    if (argc != 2)
        return 2;
    Db *db = command_database(argv[1]);
    if (!db)
        return 1;
    int faults = count_rows(db, SQL_INTEGRITY_CHECK, COL_INTEGRITY_CHECK_INTEGRITY_CHECK, "ok");
    faults += count_rows(db, SQL_FOREIGN_KEY_CHECK, COL_FOREIGN_KEY_CHECK_TABLE, NULL);
    printf("database: %s\n", faults ? "damaged" : "sound");
    faults += ledger_check(db, stdout);
    faults += db_failed(db);
    db_close(db);
    return faults ? 1 : 0;
}
