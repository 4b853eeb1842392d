// UCI, the protocol between an engine and a GUI or match runner. A Uci is one engine: its options,
// its position, its search. The thread that reads commands never searches; each `go` starts a
// thread. Commands that cannot be understood are answered with an `info string` and otherwise
// ignored.
#pragma once

#include <stdio.h>

#include "search/search.h"

enum { UCI_LINE_MAX = 1 << 16 }; // longer lines are ignored

typedef struct Uci Uci;

Uci *uci_new(FILE *out); // borrows `out`
void uci_free(Uci *uci); // stops a search first

// Executes one line. Returns false after `quit`.
bool uci_line(Uci *uci, const char *line);
// Executes the lines of `in` until `quit` or the end of the input.
void uci_loop(Uci *uci, FILE *in);
