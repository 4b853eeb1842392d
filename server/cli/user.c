// `server user …`: manages accounts from the command line, also while the server runs.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/login.h"
#include "server/accounts/password.h"
#include "server/accounts/users.h"
#include "server/cli/cli.h"
#include "server/common/clock.h"
#include "server/common/str.h"
#include "sql/users.h"

static const char *option_password_file;

// Parses --password-file. Returns the number of the other arguments; -1: a wrong option.
static int take_options(int argc, char **argv) {
    static const struct option options[] = {{"password-file", required_argument, NULL, 'p'}, {0}};
    option_password_file = NULL;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c != 'p')
            return -1;
        option_password_file = optarg;
    }
    return argc - optind;
}

static bool add(Db *db, const char *name, const char *hash, Error *err) {
    return user_create(db, name, "", hash, "active", false, time_now(), err) != 0;
}

static bool change(Db *db, const char *name, const char *hash, Error *err) {
    int64_t id = user_find(db, name, err);
    return id && sql_user_set_password(db, err, .user = id, .password = hash) &&
           sql_sessions_remove_others(db, err, .user = id, .token_hash = "") &&
           login_failures_forget(db, id, err);
}

static bool with_password(Db *db, const char *name, Error *err,
                          bool (*act)(Db *, const char *, const char *, Error *)) {
    bool made;
    char *password scope(free_ptr) = command_password(option_password_file, &made);
    if (!password)
        return error_set(err, 0, "", "there is no password; nothing was changed");
    char *hash scope(free_ptr) = password_hash(password);
    if (!act(db, name, hash, err))
        return false;
    if (made)
        printf("password: %s\n", password);
    return true;
}

static bool user_add(Db *db, int count, char **words, Error *err) {
    return count == 1 && with_password(db, words[0], err, add);
}

static bool user_password(Db *db, int count, char **words, Error *err) {
    return count == 1 && with_password(db, words[0], err, change);
}

// NAME admin, or NAME ENGINE ROLE. A '-' before the role takes it away.
static bool user_role(Db *db, int count, char **words, Error *err) {
    int64_t id = user_find(db, words[0], err);
    const char *role = words[count - 1];
    bool grant = *role != '-';
    return id && user_set_role(db, id, count == 3 ? words[1] : "", role + !grant, grant, err);
}

static bool user_state(Db *db, int count, char **words, Error *err) {
    int64_t id = user_find(db, words[0], err);
    return count == 2 && id && user_set_state(db, id, words[1], err);
}

static bool user_list(Db *db, int count, char **words, Error *err) {
    (void)count, (void)words, (void)err;
    for (SqlUsersListRows users = sql_users_list(db); sql_users_list_next(&users);)
        printf("%-32s %-8s%s%s\n", users.row.name, users.row.state, users.row.admin ? " admin" : "",
               users.row.roles);
    return true;
}

static const struct Verb {
    const char *name;
    int least, most; // words after DATA
    bool (*run)(Db *db, int count, char **words, Error *err);
} verbs[] = {
    {"add", 1, 1, user_add},     {"password", 1, 1, user_password}, {"role", 2, 3, user_role},
    {"state", 2, 2, user_state}, {"list", 0, 0, user_list},
};

static const struct Verb *find_verb(const char *name, int words) {
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(verbs[i].name, name) && words >= verbs[i].least && words <= verbs[i].most)
            return &verbs[i];
    return NULL;
}

// user VERB DATA WORDS…
int command_user(int argc, char **argv) {
    Error err = {0};
    int count = take_options(argc, argv);
    char **words = argv + optind;
    const struct Verb *verb = count >= 2 ? find_verb(words[0], count - 2) : NULL;
    if (!verb)
        return 2;
    Db *db = command_database(words[1]);
    if (!db)
        return 1;
    bool good = db_begin(db, &err) && verb->run(db, count - 2, words + 2, &err);
    if (good)
        good = db_commit(db, &err);
    else
        db_rollback(db);
    db_close(db);
    return good ? 0 : command_failed(&err);
}
