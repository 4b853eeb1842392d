// `server init`: makes a new installation in a new folder, or leaves nothing if it fails. `server
// book` (book_command.c) adds books of openings later.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/accounts/password.h"
#include "server/accounts/users.h"
#include "server/cli/book_command.h"
#include "server/cli/cli.h"
#include "server/cli/engine_install.h"
#include "server/common/clock.h"
#include "server/common/file.h"
#include "server/common/str.h"
#include "server/db/settings.h"
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

static bool add_books(Db *db, const Plan *plan, Error *err) {
    int64_t engine = sql_engine_first(db, 0);
    for (int i = 0; i < plan->book_count; i++)
        if (!book_add_file(db, plan->data, engine, plan->books[i], err))
            return false;
    return plan->book_count || book_add_own(db, plan->data, engine, err);
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
