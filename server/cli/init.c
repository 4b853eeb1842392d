// `server init`: makes a new installation in a new folder, or leaves nothing if it fails. `server
// book` adds books of openings later.
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/accounts/password.h"
#include "server/accounts/users.h"
#include "server/cli/cli.h"
#include "server/cli/engine_install.h"
#include "server/common/clock.h"
#include "server/common/file.h"
#include "server/common/installed.h"
#include "server/db/settings.h"
#include "server/storage/book.h"
#include "sql/core.h"
#include "sql/git.h"

enum { BOOKS_MAX = 16 };

typedef struct Plan {
    const char *data, *admin, *password_file, *engine_source, *books[BOOKS_MAX];
    int book_count;
    bool self_approval;
} Plan;

static bool read_plan(int argc, char **argv, Plan *plan) {
    static const struct option options[] = {
        {"admin", required_argument, NULL, 'a'},
        {"admin-password-file", required_argument, NULL, 'p'},
        {"engine-source", required_argument, NULL, 'e'},
        {"book", required_argument, NULL, 'b'},
        {"self-approval", no_argument, NULL, 's'},
        {0},
    };
    *plan = (Plan){.admin = "admin"};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'a')
            plan->admin = optarg;
        else if (c == 'p')
            plan->password_file = optarg;
        else if (c == 'e')
            plan->engine_source = optarg;
        else if (c == 'b' && plan->book_count < BOOKS_MAX)
            plan->books[plan->book_count++] = optarg;
        else if (c == 's')
            plan->self_approval = true;
        else
            return false;
    }
    plan->data = argv[optind];
    return optind + 1 == argc;
}

// "some/folder/8moves.epd" is the book "8moves".
static bool add_book(Db *db, const char *data, int64_t engine, const char *path, Error *err) {
    const char *slash = strrchr(path, '/');
    char *name scope(free_ptr) = xstrdup(slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = 0;
    return book_install(db, data, engine, path, name, time_now(), err) != 0;
}

// Adds the installed books, in the order of their names.
static bool add_own_books(Db *db, const char *data, int64_t engine, Error *err) {
    char *folder scope(free_ptr) = installed_folder("books", "server/books");
    char *pattern scope(free_ptr) = xasprintf("%s/*.epd", folder ? folder : "/nowhere");
    glob_t found scope(globfree) = {0};
    if (!folder || glob(pattern, 0, NULL, &found))
        return true;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!add_book(db, data, engine, found.gl_pathv[i], err))
            return false;
    return true;
}

static bool add_books(Db *db, const Plan *plan, Error *err) {
    int64_t engine = sql_engine_first(db, 0);
    for (int i = 0; i < plan->book_count; i++)
        if (!add_book(db, plan->data, engine, plan->books[i], err))
            return false;
    return plan->book_count || add_own_books(db, plan->data, engine, err);
}

static bool fill(Db *db, const Plan *plan, const char *password, Error *err) {
    char *hash scope(free_ptr) = password_hash(password);
    return (!plan->self_approval || setting_write(db, SETTING_SELF_APPROVAL, "1", err)) &&
           user_create(db, plan->admin, "", hash, "active", true, time_now(), err) &&
           engine_install(db, plan->data, plan->engine_source, err) && add_books(db, plan, err);
}

static bool build(const Plan *plan, const char *password, Error *err) {
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", plan->data);
    char *git scope(free_ptr) = xasprintf("%s/git", plan->data);
    char *blobs scope(free_ptr) = xasprintf("%s/blobs", plan->data);
    if (!folder_make(git, err) || !folder_make(blobs, err))
        return false;
    Db *db = db_open(path, false, err);
    bool good = db && db_begin(db, err) && fill(db, plan, password, err) && db_commit(db, err);
    db_close(db);
    return good && folder_sync(plan->data, err);
}

int command_init(int argc, char **argv) {
    Plan plan;
    Error err;
    bool made;
    if (!read_plan(argc, argv, &plan))
        return 2;
    char *password scope(free_ptr) = command_password(plan.password_file, &made);
    if (!password)
        return 1;
    if (mkdir(plan.data, 0700) < 0) {
        error_errno(&err, "cannot create %s", plan.data);
        return command_failed(&err);
    }
    if (!build(&plan, password, &err)) {
        Error other;
        command_failed(&err);
        if (!folder_remove(plan.data, &other))
            command_failed(&other);
        return 1;
    }
    printf("%s is ready: run `server run %s --listen 127.0.0.1:8080`\n", plan.data, plan.data);
    printf("admin account: %s\n", plan.admin);
    if (made)
        printf("password: %s\n", password);
    return 0;
}

static bool book_into(Db *db, char **words, Error *err) {
    int64_t engine = sql_engine_of_name(db, 0, words[1]);
    if (!engine)
        return error_set(err, 404, "no_such_engine", "there is no engine %s", words[1]);
    return book_install(db, words[0], engine, words[3], words[2], time_now(), err) != 0;
}

// book DATA ENGINE NAME FILE
int command_book(int argc, char **argv) {
    Error err;
    if (argc != 5)
        return 2;
    Db *db = command_database(argv[1]);
    if (!db)
        return 1;
    bool good = db_begin(db, &err) && book_into(db, argv + 1, &err) && db_commit(db, &err);
    if (!good)
        db_rollback(db);
    db_close(db);
    return good ? 0 : command_failed(&err);
}
