// Finds the first request that comes from outside: that a stranger may have sent, or that a proxy
// passed on. It has a public peer, a line X-Forwarded-* or Forwarded, https, or a Host (or a
// target) that names more than this machine or a private network. A sender can lie only to make the
// server stricter, and a stranger's honest browser or worker needs no more than its Host to be
// found.
//
// Deliberately not done: no name is looked up, and no line is believed that would make a request
// come from inside. A relay in front of the server that hides its clients and changes their Host is
// not found. Such a relay is declared by PATCHMATE_OUTSIDE.
#pragma once

#include "server/loop/state.h"

// Call this for each request when its headers have arrived, before anything is answered, outside of
// a turn. `peer` is the address at the other end of the connection. If the request is the first
// one from outside, this writes the state (server/ledger/outside.h) in a turn of its own, so that
// it is on disk before the reply. False: 503, and the next such request tries again. Loop thread.
bool reached_note(Loop *loop, const RequestData *data, const char *peer, Error *err);
