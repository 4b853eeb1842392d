// The composition root: opens an installation, gives the tables of routes and the error pages to
// the loop, and serves. Only main.c depends on this file.
#pragma once

#include "server/loop/state.h"

typedef struct ServerConfig {
    const char *data, *listen;
    const char *web; // folder of templates and static files; NULL: beside the program
    bool outside;    // strangers reach it, whatever its requests look like
    LoopConfig loop;
} ServerConfig;

// Opens DATA (locked against a second server), listens, and serves until SIGTERM or SIGINT.
bool server_run(const ServerConfig *config, Error *err);

// Prints every route in a line: method, pattern, access, the maximum size of a body, and where it
// runs, separated by tabs.
void server_print_routes(void);
