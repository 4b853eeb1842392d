// See routes.h.
#include "server/routes/routes.h"

#include <stdio.h>

const Route *const routes_all[] = {routes_server, routes_users,   routes_worker,
                                   routes_tests,  routes_results, routes_nets,
                                   routes_git,    routes_pages,   NULL};

static const char *access_name(Access access) {
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

void routes_print(void) {
    for (const Route *const *table = routes_all; *table; table++)
        for (const Route *r = *table; r->method; r++)
            printf("%s\t%s\t%s\t%zu\t%s%s\n", r->method, r->pattern, access_name(r->access),
                   r->max_body, r->prepare ? "reader" : "", r->apply ? "+turn" : "");
}
