// When to try again: after 1 s, then twice as long each time, up to 60 s. Jitter keeps the workers
// of a server from calling all at once after an outage. A Retry-After replaces this pause, and is
// limited to 60 s too: one reply must not stop a machine for long.
#pragma once

typedef struct Backoff {
    int failures; // in a row; initialise with 0
} Backoff;

// Seconds to wait after one more failure. `retry_after_s` is the server's Retry-After, or 0.
double backoff_next(Backoff *backoff, double retry_after_s);
void backoff_reset(Backoff *backoff);
