// UCI's `info` line.
#pragma once

#include "search/limits.h"

enum { UCI_INFO_MAX = 4096 };

// Writes a report of the search as one line, `info depth …`; returns `out`.
char *uci_info_text(const Root *root, const SearchInfo *info, char out[UCI_INFO_MAX]);
