// The UCI options: a table with the name, the bounds and the setter of each.
#pragma once

#include <stdio.h>

#include "search/search.h"
#include "search/tt.h"

typedef struct UciOptions {
    bool chess960;
    int multi_pv;
    int64_t overhead_ms;
    const Network *net; // in use; NULL for the classical evaluation
    Network own_net;    // the net that was read from a file
} UciOptions;

void options_init(UciOptions *options);
void options_release(UciOptions *options); // not while a search uses its net
// The `option name …` lines.
void options_print(FILE *out);
// Executes the arguments of `setoption`. On false, `problem` says what is wrong.
bool options_set(UciOptions *options, Search *search, const char *args, char *problem, size_t size);
