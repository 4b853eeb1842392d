// The tables of routes, one for each group of handlers. Each ends with an empty row. server/start.c
// passes all of them to the loop.
#pragma once

#include "server/http/handler.h"

extern const Route routes_worker[];  // worker protocol
extern const Route routes_tests[];   // submit, approve, stop, merge, …
extern const Route routes_results[]; // exclude batches, block machines
extern const Route routes_nets[];    // upload nets
extern const Route routes_books[];   // upload books
extern const Route routes_login[];   // sign up, in and out
extern const Route routes_account[]; // the viewer's password and tokens
extern const Route routes_admin[];   // accounts, roles and states
extern const Route routes_roles[];   // ask for a role, and answer
extern const Route routes_pages[];   // pages and the read API
extern const Route routes_games[];   // games as files
extern const Route routes_git[];     // clone
extern const Route routes_server[];  // server, health, metrics, static files
