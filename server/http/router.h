// Finds the route of a method and path. A pattern's segment is literal text, or text around one
// {name}; a last segment {name...} takes the rest of the path. Literal text wins over {}, from left to right.
#pragma once

#include "server/http/handler.h"

enum { ROUTE_PARAMS_MAX = 4 };

typedef struct RouteMatch {
    const Route *route; // NULL when none
    struct {
        const char *at; // into the path, undecoded
        size_t size;
    } params[ROUTE_PARAMS_MAX];
    char allow[64]; // methods of the routes that match the path, when the method is none of them
} RouteMatch;

// `tables` ends with NULL; each ends with an empty row. HEAD finds GET.
RouteMatch route_find(const Route *const *tables, const char *method, const char *path);
