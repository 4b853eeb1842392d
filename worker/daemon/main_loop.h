// The main loop: claim a task, work on it, claim again, until the worker is stopped.
#pragma once

#include "worker/setup/worker.h"

// Returns when the worker must stop. The uploader then had time to send the remaining results.
void main_loop_run(Worker *worker);
