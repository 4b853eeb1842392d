// `server init`: a new installation in a new folder, or none at all.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "cli.h"
#include "common/file.h"
#include "hooks.h"
#include "password.h"
#include "users.h"

typedef struct Plan {
    const char *data, *admin, *password_file, *engine_source, *book;
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
        else if (c == 'b')
            plan->book = optarg;
        else if (c == 's')
            plan->self_approval = true;
        else
            return false;
    }
    plan->data = argv[optind];
    return optind + 1 == argc;
}

static bool fill(Db *db, const Plan *plan, const char *password, Error *err) {
    char *hash scope(free_ptr) = password_hash(password);
    return db_run(db, err, SQL_SETTING_SET, "ss", "signup", "open") &&
           db_run(db, err, SQL_SETTING_SET, "ss", "self_approval",
                  plan->self_approval ? "1" : "0") &&
           user_create(db, plan->admin, "", hash, "active", true, time_now(), err) &&
           engine_install(db, plan->data, plan->engine_source, err) &&
           (!plan->book || book_install(db, plan->data, 1, plan->book, "default", time_now(), err));
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
