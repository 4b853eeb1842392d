// Checks the evidence of a test as a stranger would, who believes the server nothing that can be
// computed: signatures, games, counts, places, order, state and verdict. Prints a line for each
// check with its first differences, and then what could not be checked: whose games had to be
// believed. Calls nothing but the code that the server counts with. The evidence may come from
// anyone, so nothing in it is taken for sound.
#pragma once

#include <stdio.h>

#include "server/proof/evidence.h"

// The number of differences. Call rules_init() before.
int64_t evidence_check(const Evidence *evidence, FILE *out);
