// `server routes`: the table of routes for tests that walk it. Not among the commands that help
// shows, because it says nothing about an installation.
#include <stdio.h>

#include "server/cli/cli.h"
#include "server/loop/connections.h"

static const char *who_may(Access access) {
    switch (access) {
    case ACCESS_ANYONE:
        return "anyone";
    case ACCESS_USER:
        return "user";
    case ACCESS_PERSON:
        return "person";
    case ACCESS_ADMIN:
        return "admin";
    case ACCESS_WORKER:
        return "worker";
    case ACCESS_WORKER_ENDS:
        return "worker_ends";
    }
    return "";
}

// Method, pattern, who may, the most bytes of a body, and where it runs; divided by tabs.
int command_routes(int argc, char **argv) {
    (void)argv;
    if (argc != 1)
        return 2;
    for (const Route *const *table = http_routes; *table; table++)
        for (const Route *r = *table; r->method; r++)
            printf("%s\t%s\t%s\t%zu\t%s%s\n", r->method, r->pattern, who_may(r->access),
                   r->max_body, r->prepare ? "reader" : "", r->apply ? "+turn" : "");
    return 0;
}
