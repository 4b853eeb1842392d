// See host.h.
#include "worker/setup/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/api/version.h"
#include "worker/sandbox/job.h"

enum { COMPILER_LIMIT_S = 20 };

// The last number with a point of the first line, as in "gcc (Debian 12.2.0-14) 12.2.0".
static bool find_version(const char *output, char *version, size_t size) {
    size_t line = strcspn(output, "\n");
    bool found = false;
    for (size_t i = 0; i < line;) {
        size_t n = strspn(output + i, "0123456789.");
        bool starts = i == 0 || output[i - 1] == ' ';
        if (n > 0 && starts && memchr(output + i, '.', n) && n < size) {
            snprintf(version, size, "%.*s", (int)n, output + i);
            found = true;
        }
        i += n ? n : 1;
    }
    return found;
}

// Runs inside the sandbox, because the compiler must work there.
static void add_compiler(Host *host, const Sandbox *sandbox, const char *name, Str *key) {
    Error err;
    char version[32];
    scope(argv_release) Argv argv = {0};
    scope(job_result_release) JobResult result = {0};
    SandboxView view = {.folder = "/usr", .tmp_bytes = 1 << 20};
    OsLimits limits;
    sandbox_prefix(sandbox, &view, &argv, &limits);
    argv_add_all(&argv, (const char *const[]){name, "--version", NULL});
    JobSpec job = {(const char *const *)argv.items, COMPILER_LIMIT_S, NULL, &limits};
    if (!job_run(&job, &result, &err) || result.end != JOB_ENDED || result.status != 0)
        return;
    str_printf(key, "%s: %.*s\n", name, (int)strcspn(result.output.data, "\n"), result.output.data);
    if (strcmp(name, "cc") != 0 && find_version(result.output.data, version, sizeof version))
        json_array_append_new(host->compilers, json_sprintf("%s %s", name, version));
}

// Builds run make in the sandbox.
static bool has_make(const Sandbox *sandbox) {
    Error err;
    scope(argv_release) Argv argv = {0};
    scope(job_result_release) JobResult result = {0};
    SandboxView view = {.folder = "/usr", .tmp_bytes = 1 << 20};
    OsLimits limits;
    sandbox_prefix(sandbox, &view, &argv, &limits);
    argv_add_all(&argv, (const char *const[]){"make", "--version", NULL});
    JobSpec job = {(const char *const *)argv.items, COMPILER_LIMIT_S, NULL, &limits};
    return job_run(&job, &result, &err) && result.end == JOB_ENDED && result.status == 0;
}

static bool check_tools(const Host *host, const Sandbox *sandbox, Error *err) {
    if (json_array_size(host->compilers) == 0)
        return error_set(
            err, 0, "no_compiler",
            "no compiler was found, and engines are built from source: install gcc and "
            "make (on Debian: apt-get install gcc libc6-dev make)");
    return has_make(sandbox) ||
           error_set(err, 0, "no_make",
                     "make was not found, and engines are built with it: install make (on Debian: "
                     "apt-get install make)");
}

int host_default_cores(int physical_cores, double cpu_quota) {
    int cores = physical_cores - 1;
    if (cpu_quota > 0 && cores > (int)(cpu_quota - 0.2))
        cores = (int)(cpu_quota - 0.2);
    return cores > 1 ? cores : 1;
}

// The options are used even if they exceed what the machine has.
static void warn_of_too_much(const Host *host, const Config *config) {
    const HostFacts *f = &host->facts;
    if (host->cores > f->logical_cores)
        log_warn("--concurrency is %d, and the machine has %d CPUs: games will be lost on time",
                 host->cores, f->logical_cores);
    else if (f->cpu_quota > 0 && host->cores > f->cpu_quota)
        log_warn("--concurrency is %d, and the CPU quota of the control group is %.2f: games will "
                 "be lost on time",
                 host->cores, f->cpu_quota);
    if (config->memory_mib > f->memory_mib)
        log_warn("--memory is %d MiB, and the machine has %d MiB", config->memory_mib,
                 f->memory_mib);
}

// Reserves CPUs that no other worker of this machine has: the number of --concurrency, or by
// default as many as are free. The default does not use hyper-threads of reserved cores.
static void reserve_cpus(Host *host, bool asked) {
    OsCpus *allowed scope(free_ptr) = xmalloc(sizeof *allowed);
    os_cpus_allowed(allowed);
    host->cpus = xcalloc(1, sizeof *host->cpus);
    if (!asked && allowed->count > host->facts.physical_cores)
        allowed->count = host->facts.physical_cores;
    while (!os_cpus_reserve(host->cpus, allowed, host->cores) && !asked && host->cores > 1)
        host->cores--;
    if (host->cpus->cpus.count == 0 && host->cores <= host->facts.logical_cores)
        log_warn("other workers leave fewer than %d free CPUs on this machine: games may be lost "
                 "on time",
                 host->cores);
}

static void choose_offer(Host *host, const Config *config) {
    const HostFacts *f = &host->facts;
    host->memory_mib = config->memory_mib ? config->memory_mib : f->memory_mib / 10 * 9;
    host->cores = config->concurrency ? config->concurrency
                                      : host_default_cores(f->physical_cores, f->cpu_quota);
    reserve_cpus(host, config->concurrency > 0);
    warn_of_too_much(host, config);
}

bool host_read(Host *host, const Config *config, const Sandbox *sandbox, Error *err) {
    static const char *const names[] = {"cc", "gcc", "g++", "clang", "clang++"};
    Str key;
    *host = (Host){.compilers = json_array()};
    os_host_facts(&host->facts);
    str_init(&key, 1 << 16);
    str_printf(&key, "%s %s\n", host->facts.arch, host->facts.cpu);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_compiler(host, sandbox, names[i], &key);
    host->build_key = str_steal(&key);
    choose_offer(host, config);
    return check_tools(host, sandbox, err);
}

// With a CPU quota, programs outside this control group share the machine, and the worker cannot
// see them. The system then spreads the load better than fixed CPUs would.
bool host_pins(const Host *host) {
    return host->facts.cpu_quota <= 0;
}

void host_take_cpus(const Host *host) {
    Error err;
    const OsCpus *cpus = &host->cpus->cpus;
    if (host_pins(host) && cpus->count > 0 && !os_thread_pin(cpus->ids, cpus->count, &err))
        log_warn("%s", err.message);
}

void host_release(Host *host) {
    if (host->cpus)
        os_cpus_release(host->cpus);
    free(host->cpus);
    json_decref(host->compilers);
    free(host->build_key);
    *host = (Host){0};
}

json_t *host_registration(const Host *host, const Config *config, const Sandbox *sandbox) {
    const HostFacts *f = &host->facts;
    json_t *facts =
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:O, s:i, s:s}", "os", f->os, "arch", f->arch,
                  "cpu", f->cpu, "physical_cores", f->physical_cores, "logical_cores",
                  f->logical_cores, "memory_mib", f->memory_mib, "compilers", host->compilers,
                  "sandbox", sandbox->level, "isa", f->isa);
    json_t *root =
        json_pack("{s:i, s:s, s:s, s:o, s:s?}", "protocol", PROTOCOL, "name", config->name,
                  "version", WORKER_VERSION, "host", facts, "user_token", config->token);
    if (!root)
        fatal("the description of this machine is not UTF-8");
    return root;
}
