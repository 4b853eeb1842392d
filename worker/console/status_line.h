// The worker's status as a line of text that fits. Pure: the time is given.
#pragma once

#include <stddef.h>

#include "worker/console/status.h"

enum { STATUS_LINE_MAX = 1024 };

// At most `width` columns (a character is one); `out` may take a line in UTF-8 of so many. Where it
// does not fit, the title is cut first, then what comes last goes. Control characters become '?'.
void status_line(const Status *status, int64_t now_ns, int width, char out[STATUS_LINE_MAX]);
// Games per hour over the samples and up to now; 0 while there is nothing to go by.
double status_rate(const Status *status, int64_t now_ns);
// Notes how many games there are, at most every quarter of a minute. Older samples are forgotten.
void status_sample(Status *status, int64_t now_ns);
