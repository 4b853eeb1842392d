// See welcome.h.
#include "worker/daemon/welcome.h"

void welcome_print(const Worker *worker, FILE *out) {
    const Host *host = &worker->host;
    const Config *config = worker->config;
    fprintf(
        out,
        "As long as it runs, this worker\n"
        "  builds and plays chess engines that %s sends (sandbox level %d, %s)\n"
        "  uses %d of %d CPUs and up to %d MiB of memory (--concurrency N, --memory MIB, --nice "
        "N)\n"
        "  keeps builds, downloads and unsent results below %s, up to %d MiB (--cache DIR, "
        "--cache-size MIB)\n"
        "  tells the server this machine's name (%s), system, processor, cores, memory and "
        "compilers, and what was played\n"
        "  stops at Ctrl-C, as soon as the running games have ended; a second Ctrl-C stops it at "
        "once\n",
        worker->identity.server, worker->sandbox.level, sandbox_describe(&worker->sandbox),
        host->cores, host->facts.logical_cores, host->memory_mib, worker->store.root,
        config->cache_mib, config->name);
    fflush(out);
}
