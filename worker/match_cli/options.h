// The table of all options of `match`.
#pragma once

#include "worker/match_cli/args_table.h"

// NULL: there is none of that name.
const Option *match_option_find(const char *name);
// The known option most like `name`; NULL: none is close.
const char *match_option_nearest(const char *name);
