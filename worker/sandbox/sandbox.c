// See sandbox.h: the choice of a level. What bubblewrap is told on this system stands in
// bubblewrap.c.
#include "worker/sandbox/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "worker/sandbox/bubblewrap.h"
#include "worker/sandbox/job.h"

// ---- the levels ---------------------------------------------------------------------------------

// The reasons why levels do not work.
enum { WHY_MAX = 400, TRIAL_S = 20 };

typedef struct Way {
    int level;
    OsProfileKind kind;
} Way;

// The best first.
static const Way ways[] = {{2, OS_PROFILE_HANDED}, {1, OS_PROFILE_HIDDEN}, {1, OS_PROFILE_WHOLE}};

// A sandbox works if the prefix that games will use runs a program.
static bool try_sandbox(const Sandbox *sandbox, char why[WHY_MAX]) {
    Error err = {0};
    Argv argv scope(argv_release) = {0};
    JobResult result scope(job_result_release) = {0};
    SandboxView view = {.folder = "/usr", .tmp_bytes = 1 << 20};
    OsLimits limits;
    sandbox_prefix(sandbox, &view, &argv, &limits);
    argv_add(&argv, "/bin/true");
    JobSpec job = {.argv = (const char *const *)argv.items, .limit_s = TRIAL_S, .limits = &limits};
    bool works = job_run(&job, &result, &err) && result.end == JOB_ENDED && result.status == 0;
    const char *said = result.output.data && *result.output.data ? result.output.data : err.message;
    snprintf(why, WHY_MAX, "%.*s", (int)strcspn(said, "\n"), *said ? said : "it does not work");
    return works;
}

static bool try_way(Sandbox *sandbox, const Way *way, char why[WHY_MAX]) {
    Error err = {0};
    sandbox->level = way->level;
    if (os_profile_init(&sandbox->profile, way->kind, &err))
        return try_sandbox(sandbox, why);
    snprintf(why, WHY_MAX, "%.*s", WHY_MAX - 1, err.message);
    return false;
}

bool sandbox_detect(Sandbox *sandbox, int most, bool allow_none, Error *err) {
    char why[SANDBOX_BEST + 1][WHY_MAX] = {"", "not tried", "not tried"};
    *sandbox = (Sandbox){0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].level <= most && try_way(sandbox, &ways[i], why[ways[i].level]))
            return true;
    *sandbox = (Sandbox){0};
    return allow_none ||
           error_set(err, 0, "no_sandbox",
                     "engines cannot be confined here.\n"
                     "  bubblewrap (bwrap): %s\n"
                     "  Landlock: %s\n"
                     "Install the package bubblewrap and allow user namespaces, or use a kernel "
                     "with Landlock (5.13 or newer), or, where this machine holds nothing of "
                     "value, run with --no-sandbox.",
                     why[2], why[1]);
}

bool sandbox_works(const Sandbox *sandbox) {
    char why[WHY_MAX];
    return sandbox->level == 0 || try_sandbox(sandbox, why);
}

const char *sandbox_describe(const Sandbox *sandbox) {
    if (sandbox->level == 0)
        return "NOT CONFINED: engines can do whatever you can do on this machine";
    switch (sandbox->profile.kind) {
    case OS_PROFILE_HANDED:
        return "bubblewrap: no network, no home, no other processes, a read-only system";
    case OS_PROFILE_HIDDEN:
        return "Landlock, seccomp and a file system of its own: no network, no home, no touching "
               "of other processes, a read-only system; hides all other files";
    default:
        return "Landlock and seccomp: no network, no home, no touching of other processes, a "
               "read-only system; does NOT hide names, sizes, owners and times of your files";
    }
}

bool sandbox_has_namespaces(const Sandbox *sandbox) {
    return sandbox->level == 2;
}

// ---- the prefix ---------------------------------------------------------------------------------

static const char *const plain_env[] = {
    "PATH", "/usr/local/bin:/usr/bin:/bin", "HOME", "/tmp", "LC_ALL", "C.UTF-8", NULL};

// Below level 2 the prefix only empties the environment.
static void add_bare_prefix(const SandboxView *view, Argv *argv) {
    argv_add_all(argv, (const char *const[]){"/usr/bin/env", "-i", NULL});
    if (view->inside && *view->inside)
        argv_printf(argv, "--chdir=%s/%s", view->folder, view->inside);
    else
        argv_printf(argv, "--chdir=%s", view->folder);
    for (const char *const *e = plain_env; *e; e += 2)
        argv_printf(argv, "%s=%s", e[0], e[1]);
    for (const char *const *e = view->env; e && *e; e += 2)
        argv_printf(argv, "%s=%s", e[0], e[1]);
}

// Without namespaces the system counts all processes of the user. This limit is the second one,
// after the watchdog: low enough that endless forking does not stop the machine before the watchdog
// reacts, and with room for the other slots.
enum { USER_FACTOR = 4 };

const char *sandbox_prefix(const Sandbox *sandbox, const SandboxView *view, Argv *argv,
                           OsLimits *limits) {
    *limits = (OsLimits){.memory_bytes = view->memory_bytes,
                         .file_bytes = view->file_bytes,
                         .cpu_s = view->cpu_s,
                         .confined = true,
                         .plays = view->plays,
                         .profile = sandbox->level > 0 ? &sandbox->profile : NULL,
                         .profile_folder = view->folder,
                         .profile_writable = view->writable};
    if (sandbox_has_namespaces(sandbox)) {
        os_sandbox_prefix(&sandbox->profile, view, plain_env, argv);
        limits->tmpfs = "/tmp";
        limits->tmpfs_bytes = view->tmp_bytes;
        return SANDBOX_FOLDER;
    }
    add_bare_prefix(view, argv);
    limits->processes = view->processes;
    limits->user_processes =
        view->processes ? os_user_processes() + USER_FACTOR * view->processes : 0;
    limits->folder = view->writable ? view->folder : NULL;
    limits->folder_bytes = view->writable ? view->tmp_bytes : 0;
    return view->folder;
}
