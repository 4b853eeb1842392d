// The composition root: opens an installation, hands the tables of routes and the pages of errors to the loop, and
// serves. Nothing depends on this file but main.c.
#pragma once

#include "server/loop/state.h"

typedef struct ServerConfig {
    const char *data, *listen;
    const char *web; // folder of templates and static files; NULL: beside the program
    LoopConfig loop;
} ServerConfig;

// Opens DATA (locked against a second server), listens, and serves until SIGTERM or SIGINT.
bool server_run(const ServerConfig *config, Error *err);

// Every route in a line: method, pattern, who may, the most bytes of a body, and where it runs, divided by tabs.
void server_print_routes(void);
