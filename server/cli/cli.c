// What the commands share, and the small ones: set and check. See cli.h.
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
        fprintf(stderr, "server: %s holds no installation\n", data);
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

static const char SHARE[] = "SHARE";

static const struct Setting {
    const char *name, *values; // values NULL: a whole number; SHARE: of 0 to 1
    long low, high;
    const char *help;
} settings[] = {
    {"signup", "open|approved|closed", 0, 0,
     "who may make an account: everyone, everyone once an admin approves, only the operator"},
    {"submit", "developers|open", 0, 0, "who may submit tests: users with the role, all users"},
    {"pending_tests", NULL, 1, 1000000, "tests of a user that may wait for approval (20)"},
    {"self_approval", "0|1", 0, 0, "authors may approve their own tests: for one person alone"},
    {"accounts_required", "0|1", 0, 0, "workers need a user's token"},
    {"registrations_per_hour", NULL, 0, 1000000, "new machines of one address in an hour"},
    {"writes_per_minute", NULL, 1, 1000000, "forms, posts and sign-ins of one address (300)"},
    {"task_seconds", NULL, 1, 86400, "how long a task should take a worker"},
    {"margin_ms", NULL, 0, 60000, "forgiven before a flag falls"},
    {"sandbox_min", "0|1|2", 0, 0, "confinement that a worker must have to get work (0: any)"},
    {"replay_share", SHARE, 0, 0, "batches whose games are played over again (0.1; 0: none)"},
    {"disk_floor_mib", NULL, 0, 1 << 30,
     "MiB of the disk to keep free: under that no games are taken (the lesser of 2048 and 5 %)"},
    {"flag_busy", SHARE, 0, 0, "CPU time that others took, above which a batch is flagged (0.1)"},
    {"flag_slow", SHARE, 0, 0, "loss of speed since the task began, above which it is (0.25)"},
    {"flag_swap_mib", NULL, 0, 1000000, "MiB swapped in meanwhile, above which it is (64)"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static bool is_one_of(const char *value, const char *values) {
    size_t size = strlen(value);
    for (const char *p = values; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (size && strcspn(p, "|") == size && !strncmp(p, value, size))
            return true;
    return false;
}

static bool setting_fits(const struct Setting *setting, const char *name, const char *value) {
    long number;
    double share;
    if (!strcmp(setting->name, name) && setting->values == SHARE)
        return parse_double(value, 0, 1, &share);
    return !strcmp(setting->name, name) &&
           (setting->values ? is_one_of(value, setting->values)
                            : parse_long(value, setting->low, setting->high, &number));
}

static void setting_explain(FILE *out, const struct Setting *setting) {
    fprintf(out, "  %-23s %-21s %s\n", setting->name, setting->values ? setting->values : "NUMBER",
            setting->help);
}

static bool setting_check(const char *name, const char *value) {
    for (int i = 0; i < SETTINGS; i++)
        if (setting_fits(&settings[i], name, value))
            return true;
    fprintf(stderr, "server: %s cannot be %s; what there is:\n", name, value);
    for (int i = 0; i < SETTINGS; i++)
        setting_explain(stderr, &settings[i]);
    return false;
}

static int settings_list(Db *db) {
    for (Query q = query(db, SQL_SETTINGS_ALL, ""); query_step(&q);)
        printf("%s %s\n", query_text(&q, COL_SETTINGS_ALL_NAME),
               query_text(&q, COL_SETTINGS_ALL_VALUE));
    puts("What there is to set:");
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

// Rows of a check that are not `fine` (NULL: all), by the text in `column`.
static int count_rows(Db *db, SqlId id, int column, const char *fine) {
    int count = 0;
    for (Query q = query(db, id, ""); query_step(&q);) {
        if (fine && !strcmp(query_text(&q, column), fine))
            continue;
        printf("%s %s\n", query_text(&q, column), fine ? "" : "refers to a row that is not there");
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
