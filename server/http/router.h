// Finds the route of a method and path. A segment of a pattern is literal text, or text around one
// {name}. A last segment {name...} matches the rest of the path. Literal text has priority over {},
// from left to right.
#pragma once

#include "server/http/handler.h"

enum { ROUTE_PARAMS_MAX = 4 };

typedef struct RouteMatch {
    const Route *route; // NULL when none
    struct {
        const char *at; // into the path, undecoded
        size_t size;
    } params[ROUTE_PARAMS_MAX];
    char allow[64]; // if only the method is wrong: the methods of the routes that match the path
} RouteMatch;

// `tables` ends with NULL; each table ends with an empty row. HEAD finds the route of GET.
RouteMatch route_find(const Route *const *tables, const char *method, const char *path);
