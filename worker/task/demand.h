// The CPUs and the memory that a game of a task needs, and whether this machine offers them.
#pragma once

#include "server/common/game_memory.h"
#include "worker/cache/store.h"
#include "worker/task/task.h"

// Blobs that are not here yet count as 0: call it again when they are.
GameMemory demand_of_task(const Task *task, const Store *store);
// The games that this machine can play at a time; 0: none.
int demand_slots(const GameMemory *demand, int cores, int memory_mib);
// False with a message for the patch's author if not even one game fits this machine's offer.
bool demand_fits(const GameMemory *demand, int cores, int memory_mib, Error *err);
