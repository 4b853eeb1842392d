// The thread that removes from the repositories what no test needs any more: the references of
// tests whose patch was dropped (ledger/disk_policy.h), and then the objects that nothing refers
// to. It looks at the start of the server and every ten minutes. It only reads the database.
#pragma once

#include "server/common/error.h"

typedef struct Pruner Pruner;

Pruner *pruner_start(const char *data, Error *err);
void pruner_stop(Pruner *pruner); // also frees; NULL is fine
