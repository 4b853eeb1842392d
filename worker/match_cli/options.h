// The table of all options of `match`.
#pragma once

#include "worker/match_cli/args_table.h"

// NULL: no option has that name.
const Option *match_option_find(const char *name);
// The name of the option that is most similar to `name`; NULL: none is similar.
const char *match_option_nearest(const char *name);
