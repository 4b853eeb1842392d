// This machine as the server sees it: what it is, what it offers, what compiles its engines.
#pragma once

#include <jansson.h>

#include "worker/os/host.h"
#include "worker/sandbox/sandbox.h"
#include "worker/setup/config.h"

typedef struct Host {
    HostFacts facts;
    json_t *compilers; // "gcc 12.2.0", …
    char *build_key;   // what of this machine makes a build another
    int cores;         // offered for games
    int memory_mib;    // offered
    OsCpuClaim *cpus;  // reserved among the workers of this machine; none where too few were left
} Host;

// CPUs to offer by default: a physical core less than there are, so that the machine has one for
// everything else, and so many that a CPU quota (0: none) is not used up, because a group over its
// quota stands still. Never less than one.
int host_default_cores(int physical_cores, double cpu_quota);

// `config` may set cores and memory; else the default above as far as other workers leave CPUs, and
// nine tenths of the memory. False, in words for people, when no compiler or no make works in the
// sandbox.
bool host_read(Host *host, const Config *config, const Sandbox *sandbox, Error *err);
void host_release(Host *host);
// Whether games are to be bound to CPUs.
bool host_pins(const Host *host);
// Binds the calling thread, and all that it starts from now on, to the reserved CPUs, so that games
// of two workers never share one.
void host_take_cpus(const Host *host);
// The body of POST workers but for the machine key. New.
json_t *host_registration(const Host *host, const Config *config, const Sandbox *sandbox);
