// `worker --self-test`: everything that work for a server needs, tried on this machine without one.
#pragma once

#include "worker/setup/worker.h"

// Prints a table to standard output. The exit status: 0, or 1 when something FAILED. Nothing is
// left behind. `worker` is zeroed but for `running`, which may be told to stop.
int self_test(Worker *worker, const Config *config);
