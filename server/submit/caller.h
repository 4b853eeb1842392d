// What every function of this folder needs to know of its call. Handlers of HTTP fill it from their
// request; a test fills it by hand. Nothing here knows requests or responses.
#pragma once

#include "server/accounts/viewer.h"
#include "server/db/turn.h"

typedef struct Caller {
    Turn *turn;           // a reader's while something is prepared, the loop's while it is stored
    const Viewer *viewer; // the user or program that asks
    const char *data;     // the data folder of the installation
} Caller;
