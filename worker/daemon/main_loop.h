// The worker's life: ask for work, do it, ask again, until it is told to stop.
#pragma once

#include "worker/setup/worker.h"

// Returns when the worker is to leave; the uploader has been given time to send what is left.
void main_loop_run(Worker *worker);
