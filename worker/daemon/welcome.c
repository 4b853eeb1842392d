// See welcome.h.
#include "worker/daemon/welcome.h"

void welcome_print(const Worker *worker, FILE *out) {
    const Host *host = &worker->host;
    const Config *config = worker->config;
    fprintf(
        out,
        "While it runs, this worker\n"
        "  builds and plays chess engines that %s sends (sandbox level %d, %s)\n"
        "  uses %d of %d CPUs and up to %d MiB of memory (--concurrency N, --memory MIB, --nice "
        "N)\n"
        "  keeps builds, downloads and unsent results below %s, up to %d MiB (--cache DIR, "
        "--cache-size MIB)\n"
        "  tells the server the name (%s), system, processor, cores, memory and compilers of this "
        "machine, and its games\n"
        "  stops after Ctrl-C when the running games have ended, and immediately after a second "
        "Ctrl-C\n",
        worker->identity.server, worker->sandbox.level, sandbox_describe(&worker->sandbox),
        host->cores, host->facts.logical_cores, host->memory_mib, worker->store.root,
        config->cache_mib, config->name);
    fflush(out);
}
