// When to try again: 1 s, doubling to 60 s, with jitter so that a server that comes back is not met
// by all its workers at once. A server's Retry-After stands over it, up to the same minute: a
// machine must not stay away for long because of one answer.
#pragma once

typedef struct Backoff {
    int failures; // in a row; zero-initialised is fresh
} Backoff;

// Seconds to wait after one more failure; `retry_after_s` as the server named it, else 0.
double backoff_next(Backoff *backoff, double retry_after_s);
void backoff_reset(Backoff *backoff);
