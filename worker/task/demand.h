// The CPUs and the memory that a game of a task needs, and whether this machine offers them.
#pragma once

#include "worker/cache/store.h"
#include "worker/task/slots.h"
#include "worker/task/task.h"

// Blobs that are not here yet count as 0: call it again when they are.
SlotDemand demand_of_task(const Task *task, const Store *store);
// False with a message for the patch's author if not even one game fits this machine's offer.
bool demand_fits(const SlotDemand *demand, int cores, int memory_mib, Error *err);
