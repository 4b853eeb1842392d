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
#include "server/db/settings.h"
#include "server/ledger/ledger.h"
#include "sql/core.h"

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

static void setting_explain(FILE *out, Setting setting) {
    const SettingRow *row = setting_row(setting);
    SettingBounds room;
    fprintf(out, "  %s %s (default: %s)\n      %s\n", row->name, setting_bounds(setting, room),
            row->fallback, row->help);
}

// The database may hold settings of another version, or values that were written by hand.
static const char *remark_on(const char *name, const char *value) {
    Setting setting;
    if (!setting_find(name, &setting))
        return "   (there is no such setting)";
    return setting_fits(setting, value) ? "" : "   (not within its bounds: its default counts)";
}

static int settings_list(Db *db) {
    const char *head = "Settings that are set:\n", *gap = "";
    for (SqlSettingsAllRows all = sql_settings_all(db); sql_settings_all_next(&all);) {
        printf("%s  %s %s%s\n", head, all.row.name, all.row.value,
               remark_on(all.row.name, all.row.value));
        head = "";
        gap = "\n";
    }
    printf("%sAll settings, their values and defaults:\n", gap);
    for (int i = 0; i < SETTING_COUNT; i++)
        setting_explain(stdout, (Setting)i);
    return 0;
}

static int setting_change(Db *db, const char *name, const char *value) {
    Error err;
    Setting setting;
    if (!setting_find(name, &setting)) {
        fprintf(stderr, "server: there is no setting %s; `server set DATA` lists the settings\n",
                name);
        return 1;
    }
    if (setting_write(db, setting, value, &err))
        return 0;
    command_failed(&err);
    setting_explain(stderr, setting);
    return 1;
}

int command_set(int argc, char **argv) {
    if (argc != 2 && argc != 4)
        return 2;
    Db *db = command_database(argv[1]);
    if (!db)
        return 1;
    int status = argc == 2 ? settings_list(db) : setting_change(db, argv[2], argv[3]);
    db_close(db);
    return status;
}

// ---- check --------------------------------------------------------------------------------------

// Prints and counts the faults that SQLite finds in its file.
static int check_integrity(Db *db) {
    int count = 0;
    for (SqlIntegrityCheckRows rows = sql_integrity_check(db); sql_integrity_check_next(&rows);) {
        if (strcmp(rows.row.integrity_check, "ok") == 0)
            continue;
        printf("%s\n", rows.row.integrity_check);
        count++;
    }
    return count;
}

static int check_foreign_keys(Db *db) {
    int count = 0;
    for (SqlForeignKeyCheckRows rows = sql_foreign_key_check(db); sql_foreign_key_check_next(&rows);
         count++)
        printf("%s refers to a row that does not exist\n", rows.row.table);
    return count;
}

int command_check(int argc, char **argv) {
    if (argc != 2)
        return 2;
    Db *db = command_database(argv[1]);
    if (!db)
        return 1;
    int faults = check_integrity(db) + check_foreign_keys(db);
    printf("database: %s\n", faults ? "damaged" : "sound");
    faults += ledger_check(db, stdout);
    faults += ledger_check_games(db, argv[1], stdout);
    faults += db_failed(db);
    db_close(db);
    return faults ? 1 : 0;
}
