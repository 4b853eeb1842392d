// What a game of a task asks of this machine, and whether it has it.
#pragma once

#include "worker/cache/store.h"
#include "worker/task/slots.h"
#include "worker/task/task.h"

// The blobs that are not here yet count nothing: ask again when they are.
SlotDemand demand_of_task(const Task *task, const Store *store);
// False, in words for the developer, when not even one game fits what is offered.
bool demand_fits(const SlotDemand *demand, int cores, int memory_mib, Error *err);
