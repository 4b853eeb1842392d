// Limits the writes of one address: a number at once, and the same number in each minute. In memory
// of fixed size. An IPv6 network of 64 bits counts as one address.
#pragma once

#include <stdbool.h>

typedef struct Rate Rate;

Rate *rate_new(void);
void rate_free(Rate *rate);
// Counts one write of the address at `now` (seconds of a monotonic clock). False: the limit is
// reached, and the next write is allowed after *wait_s seconds.
bool rate_take(Rate *rate, const char *address, double per_minute, double now, double *wait_s);
