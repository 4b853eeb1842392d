// Changes to a test that exists. A change that widens what was approved (what volunteers' machines
// run, how many games, a priority above 0 and above the present one) takes the approval back,
// unless it is made by a maintainer who could approve the test. A change that would mix results of
// different settings is refused.
#pragma once

#include <jansson.h>

#include "server/submit/caller.h"

// `wanted`: the fields to change, as submit_fields_of_json() gives them; stolen. In the turn.
bool submit_modify(const Caller *caller, int64_t test, json_t *wanted, Error *err);
