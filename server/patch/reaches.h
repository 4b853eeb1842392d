// Whether a line of source names a means by which a program reaches outside itself. A patch of an
// engine seldom needs one, so an approver should see it first. This is a hint and no defence: a
// program can reach out without any of these names.
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool line_reaches_out(const char *line, size_t size);
