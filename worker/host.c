// See host.h.
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../server/common/log.h"
#include "../server/common/str.h"
#include "job.h"

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

// Asked inside the sandbox, because that is where it has to work.
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
    int spare = host->facts.physical_cores - 1;
    host->cores = config->concurrency ? config->concurrency : spare > 1 ? spare : 1;
    host->memory_mib = config->memory_mib ? config->memory_mib : host->facts.memory_mib / 10 * 9;
    if (host->cores > host->facts.logical_cores)
        log_warn("%d CPUs are offered, the machine has %d: games will be lost on time", host->cores,
                 host->facts.logical_cores);
    return json_array_size(host->compilers) > 0 ||
           error_set(err, 0, "no_compiler", "no compiler was found: install gcc and make");
}

void host_release(Host *host) {
    json_decref(host->compilers);
    free(host->build_key);
    *host = (Host){0};
}

json_t *host_registration(const Host *host, const Config *config, const Sandbox *sandbox) {
    const HostFacts *f = &host->facts;
    json_t *facts = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:O, s:i}", "os", f->os, "arch",
                              f->arch, "cpu", f->cpu, "physical_cores", f->physical_cores,
                              "logical_cores", f->logical_cores, "memory_mib", f->memory_mib,
                              "compilers", host->compilers, "sandbox", sandbox->level);
    json_t *root =
        json_pack("{s:i, s:s, s:s, s:o, s:s?}", "protocol", PROTOCOL, "name", config->name,
                  "version", WORKER_VERSION, "host", facts, "user_token", config->token);
    if (!root)
        fatal("the host's facts are no UTF-8 text");
    return root;
}
