// What the worker is doing, in one line: kept live on a terminal, said once in a while in a log.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Status {
    char phase[16]; // "" between tasks
    int64_t test;
    char title[64];
    int pairs, pairs_done; // of the task
    int wins, losses, draws;
    double llr;
    bool has_llr;
    int64_t games_total; // finished by this worker since it started
} Status;

// On a terminal, status_show paints; elsewhere it logs a line at most once a minute while playing.
void status_start(void);
// Changes the status under its lock.
void status_update(void (*change)(Status *status, void *ctx), void *ctx);
void status_phase(const char *phase);
// Called about once a second.
void status_show(void);
void status_end(void); // leaves the terminal's line clean
