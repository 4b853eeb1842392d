// See sandbox.h. What bubblewrap is told on this system is os_sandbox.c's; here are the choice of a
// level and the command line as a thing.
#include "sandbox.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../server/common/str.h"
#include "job.h"
#include "os_sandbox.h"

void argv_add(Argv *argv, const char *item) {
    argv->items = xrealloc(argv->items, (size_t)(argv->count + 2) * sizeof *argv->items);
    argv->items[argv->count++] = xstrdup(item);
    argv->items[argv->count] = NULL;
}

void argv_add_all(Argv *argv, const char *const *items) {
    for (; *items; items++)
        argv_add(argv, *items);
}

void argv_printf(Argv *argv, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        abort();
    va_end(args);
    argv_add(argv, text);
    free(text);
}

void argv_release(Argv *argv) {
    for (int i = 0; i < argv->count; i++)
        free(argv->items[i]);
    free(argv->items);
    *argv = (Argv){0};
}

enum { TRIAL_S = 20 };

// A level works when the very prefix that games will use runs a program.
static bool try_level(int level, JobResult *result, Error *err) {
    Argv argv scope(argv_release) = {0};
    Sandbox trial = {level};
    SandboxView view = {.folder = "/usr", .tmp_bytes = 1 << 20};
    OsLimits limits;
    sandbox_prefix(&trial, &view, &argv, &limits);
    argv_add(&argv, "/bin/true");
    JobSpec job = {.argv = (const char *const *)argv.items, .limit_s = TRIAL_S, .limits = &limits};
    return job_run(&job, result, err) && result->end == JOB_ENDED && result->status == 0;
}

bool sandbox_detect(Sandbox *sandbox, bool allow_none, Error *err) {
    Error why = {0};
    JobResult result scope(job_result_release) = {0};
    *sandbox = (Sandbox){2};
    if (try_level(2, &result, &why))
        return true;
    *sandbox = (Sandbox){0};
    if (allow_none)
        return true;
    const char *said = result.output.data && *result.output.data ? result.output.data : why.message;
    return error_set(err, 0, "no_sandbox",
                     "engines cannot be confined here: bubblewrap (bwrap) does not work: %.300s\n"
                     "Install the package bubblewrap and allow user namespaces, or, where this "
                     "machine holds nothing of value, run with --no-sandbox.",
                     *said ? said : "no such program");
}

const char *sandbox_describe(const Sandbox *sandbox) {
    return sandbox->level == 2
               ? "bubblewrap: no network, no home, no other processes, a read-only system"
               : "NOT CONFINED: engines can do whatever you can do on this machine";
}

static const char *const plain_env[] = {
    "PATH", "/usr/local/bin:/usr/bin:/bin", "HOME", "/tmp", "LC_ALL", "C.UTF-8", NULL};

// Level 0 still starts from an empty environment.
static const char *bare_prefix(const SandboxView *view, Argv *argv) {
    argv_add_all(argv, (const char *const[]){"/usr/bin/env", "-i", NULL});
    if (view->inside && *view->inside)
        argv_printf(argv, "--chdir=%s/%s", view->folder, view->inside);
    else
        argv_printf(argv, "--chdir=%s", view->folder);
    for (const char *const *e = plain_env; *e; e += 2)
        argv_printf(argv, "%s=%s", e[0], e[1]);
    for (const char *const *e = view->env; e && *e; e += 2)
        argv_printf(argv, "%s=%s", e[0], e[1]);
    return view->folder;
}

const char *sandbox_prefix(const Sandbox *sandbox, const SandboxView *view, Argv *argv,
                           OsLimits *limits) {
    *limits = (OsLimits){0};
    if (sandbox->level == 0)
        return bare_prefix(view, argv);
    os_sandbox_prefix(view, plain_env, argv);
    return OS_SANDBOX_FOLDER;
}
