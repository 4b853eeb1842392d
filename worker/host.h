// This machine as the server sees it: what it is, what it offers, what compiles its engines.
#pragma once

#include <jansson.h>

#include "config.h"
#include "os_host.h"
#include "sandbox.h"

typedef struct Host {
    HostFacts facts;
    json_t *compilers; // "gcc 12.2.0", …
    char *build_key;   // what of this machine makes a build another
    int cores;         // offered for games
    int memory_mib;    // offered
} Host;

// `config` may set cores and memory; else all memory less a tenth, all physical cores less one.
// False when no compiler works in the sandbox.
bool host_read(Host *host, const Config *config, const Sandbox *sandbox, Error *err);
void host_release(Host *host);
// The body of POST workers but for the machine key. New.
json_t *host_registration(const Host *host, const Config *config, const Sandbox *sandbox);
