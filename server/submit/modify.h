// Changes to a test that exists. A change of what volunteers' machines run takes the approval back;
// a change that would mix results of different settings is refused.
#pragma once

#include <jansson.h>

#include "server/submit/caller.h"

// `wanted`: the fields to change, as submit_fields_of_json() gives them; stolen. In the turn.
bool submit_modify(const Caller *caller, int64_t test, json_t *wanted, Error *err);
