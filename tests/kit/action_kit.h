// Every action of people (server/submit/rights.h), done to test 1 of a submit kit.
#pragma once

#include "server/submit/rights.h"

// Whether the function behind the action did it, in a turn that the caller of this begins and ends.
// A refusal that is no question of rights counts as done: machine 1 has no batches to exclude.
bool kit_act(Action action, const Caller *caller, Error *err);
