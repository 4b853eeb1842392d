// UCI, the protocol between an engine and whoever runs it. One Uci is one engine: its options, its
// position, its search. The reading thread never thinks; each `go` thinks in a thread of its own.
// What cannot be understood is answered with an `info string` and otherwise ignored.
#pragma once

#include <stdio.h>

#include "search/search.h"

enum { UCI_LINE_MAX = 1 << 16 }; // longer lines are refused whole

typedef struct Uci Uci;

Uci *uci_new(FILE *out); // borrows `out`
void uci_free(Uci *uci); // stops a search first

// Obeys one line. False after `quit`.
bool uci_line(Uci *uci, const char *line);
// Obeys lines from `in` until `quit` or its end.
void uci_loop(Uci *uci, FILE *in);
