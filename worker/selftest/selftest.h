// `worker --self-test`: tests without a server all that a worker needs on this machine.
#pragma once

#include "worker/setup/worker.h"

// Prints a table to standard output. The exit status: 0, or 1 when something FAILED. Nothing is
// left behind. `worker` is zeroed but for `running`, which may be told to stop.
int self_test(Worker *worker, const Config *config);
