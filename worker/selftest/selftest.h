// `worker --self-test`: tests this machine without a server, and all that a worker needs on it.
#pragma once

#include "worker/setup/worker.h"

// Prints a table to standard output. Returns the exit status: 0, or 1 if a test FAILED or the
// self-test was stopped. It removes its files. `worker` is zeroed except for `running`, through
// which a signal stops the self-test.
int self_test(Worker *worker, const Config *config);
