// The CPUs and the memory that a game of a task needs, and whether this machine offers them.
#pragma once

#include "worker/cache/store.h"
#include "worker/task/slots.h"
#include "worker/task/task.h"

// The blobs that are not here yet count nothing: ask again when they are.
SlotDemand demand_of_task(const Task *task, const Store *store);
// False, in words for the developer, when not even one game fits what is offered.
bool demand_fits(const SlotDemand *demand, int cores, int memory_mib, Error *err);
