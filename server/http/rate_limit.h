// How often one address may write: so many at once, and as many again each minute. In memory, of a
// fixed size; an IPv6 network of 64 bits counts as one address.
#pragma once

#include <stdbool.h>

typedef struct Rate Rate;

Rate *rate_new(void);
void rate_free(Rate *rate);
// Takes one of `per_minute` from the address, at `now` seconds of any steady clock. False: none is
// left, and *wait_s tells when there will be.
bool rate_take(Rate *rate, const char *address, double per_minute, double now, double *wait_s);
