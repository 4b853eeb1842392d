// The tables of routes, one of each file of handlers here; each ends with an empty row.
// server/start.c hands all of them to the loop.
#pragma once

#include "server/http/handler.h"

extern const Route routes_worker[];  // worker protocol
extern const Route routes_tests[];   // submit, approve, stop, merge, …
extern const Route routes_results[]; // exclude batches, block machines
extern const Route routes_nets[];    // upload nets
extern const Route routes_users[];   // signup, login, tokens, account
extern const Route routes_pages[];   // pages and the read API
extern const Route routes_git[];     // clone
extern const Route routes_server[];  // server, health, metrics, static files
