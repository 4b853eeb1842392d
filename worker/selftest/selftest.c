// See selftest.h. The parts run in the order of a task: machine, compiler, sandbox, build, bench,
// match. Engines with faults come last.
#include "worker/selftest/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "worker/api/version.h"
#include "worker/os/guard.h"
#include "worker/os/own_group.h"
#include "worker/os/user.h"
#include "worker/selftest/parts.h"

// ---- the machine --------------------------------------------------------------------------------

static void show_machine(SelfTest *test) {
    const HostFacts *f = &test->worker->host.facts;
    char quota[48] = "";
    if (f->cpu_quota > 0)
        snprintf(quota, sizeof quota, ", quota %.2f", f->cpu_quota);
    selftest_row(test, ROW_NOTE, "machine", "%s, %s", f->cpu, f->isa);
    selftest_row(test, ROW_NOTE, "offers", "%d of %d CPUs (%d cores%s), %d of %d MiB of memory",
                 test->worker->host.cores, f->logical_cores, f->physical_cores, quota,
                 test->worker->host.memory_mib, f->memory_mib);
}

static void show_compilers(SelfTest *test) {
    Str list;
    size_t i;
    json_t *name;
    str_init(&list, 256);
    json_array_foreach (test->worker->host.compilers, i, name)
        str_printf(&list, "%s%s", i ? ", " : "", json_string_value(name));
    selftest_row(test, ROW_OK, "compiler and make", "%s", list.data);
    str_release(&list);
}

// Without a sandbox or a compiler the other parts cannot run.
static bool find_tools(SelfTest *test, const Config *config) {
    Error err = {0};
    Worker *w = test->worker;
    selftest_begin(test, "sandbox");
    if (!sandbox_detect(&w->sandbox, config->sandbox_max, config->no_sandbox, &err)) {
        selftest_row(test, ROW_FAILED, "sandbox", "%s", err.message);
        return false;
    }
    selftest_row(test, w->sandbox.level ? ROW_OK : ROW_NOTE, "sandbox", "level %d: %s",
                 w->sandbox.level, sandbox_describe(&w->sandbox));
    selftest_row(test, ROW_NOTE, "memory, ends of programs", "%s", os_own_group_describe());
    selftest_begin(test, "compiler and make");
    if (!host_read(&w->host, config, &w->sandbox, &err)) {
        selftest_row(test, ROW_FAILED, "compiler and make", "%s", err.message);
        return false;
    }
    show_compilers(test);
    show_machine(test);
    test->context = (BuildContext){&w->store,
                                   &w->sandbox,
                                   w->host.build_key,
                                   w->host.cores,
                                   &w->running.cancel,
                                   config->build_s,
                                   0};
    return true;
}

static void run_parts(SelfTest *test) {
    static void (*const parts[])(SelfTest *) = {selftest_confinement, selftest_reach,
                                                selftest_match, selftest_faults};
    host_take_cpus(&test->worker->host);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !selftest_cancelled(test); i++)
        parts[i](test);
}

// ---- the frame ----------------------------------------------------------------------------------

static int conclude(const SelfTest *test) {
    if (selftest_cancelled(test))
        puts("\nstopped before the end");
    else if (test->failed)
        printf("\n%d of %d tests FAILED: this machine cannot work for a server yet\n", test->failed,
               test->rows);
    else
        printf("\nall %d tests passed: this machine can work for a server\n", test->rows);
    return test->failed || selftest_cancelled(test);
}

// All files are in a new folder, so that the cache of a worker is not changed.
static bool open_folder(Worker *w, char *folder, Error *err) {
    if (!mkdtemp(folder))
        return error_errno(err, "cannot make a folder in /tmp");
    return os_become_user(folder, err) && store_open(&w->store, folder, err) &&
           os_guard_start(w->store.instance, err);
}

static void remove_folder(Worker *w, const char *folder) {
    Error err;
    store_close(&w->store);
    if (chdir("/") < 0 || !store_clear(folder, &err))
        log_warn("%s", err.message);
}

int self_test(Worker *worker, const Config *config) {
    Error err = {0};
    char folder[] = "/tmp/patchmate-self-test-XXXXXX";
    SelfTest test = {.worker = worker, .terminal = isatty(STDOUT_FILENO) != 0};
    if (!config->verbose)
        log_set_level(LOG_LEVEL_ERROR);
    worker->config = config;
    printf("self-test of worker %s\n\n", WORKER_VERSION);
    if (!open_folder(worker, folder, &err))
        selftest_row(&test, ROW_FAILED, "folder", "%s", err.message);
    else if (find_tools(&test, config))
        run_parts(&test);
    if (worker->store.holds)
        remove_folder(worker, folder);
    host_release(&worker->host);
    return conclude(&test);
}
