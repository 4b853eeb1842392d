// The description of this machine for the server: hardware, CPUs and memory for games, compilers.
#pragma once

#include <jansson.h>

#include "worker/os/host.h"
#include "worker/sandbox/sandbox.h"
#include "worker/setup/config.h"

typedef struct Host {
    HostFacts facts;
    json_t *compilers; // "gcc 12.2.0", …
    char *build_key;   // a build is reused only if this is the same
    int cores;         // offered for games
    int memory_mib;    // offered
    OsCpuClaim *cpus;  // reserved for this worker; none if too few were free
} Host;

// The default number of CPUs for games: one less than the physical cores, which leaves one core for
// everything else, and less than a CPU quota (0: none), because a control group over its quota is
// stopped for a while. At least one.
int host_default_cores(int physical_cores, double cpu_quota);

// `config` may set cores and memory. The defaults are the number above, as far as other workers
// leave CPUs free, and 90 % of the memory. False with a message for the volunteer if no compiler or
// no make works in the sandbox.
bool host_read(Host *host, const Config *config, const Sandbox *sandbox, Error *err);
void host_release(Host *host);
// True if games are bound to CPUs.
bool host_pins(const Host *host);
// Binds the calling thread, and all that it starts later, to the reserved CPUs: games of two
// workers then never share a CPU.
void host_take_cpus(const Host *host);
// The body of POST /workers, without the machine key. New.
json_t *host_registration(const Host *host, const Config *config, const Sandbox *sandbox);
