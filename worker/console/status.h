// What the worker is doing, in one line: kept live on a terminal, said once in a while in a log.
// Any thread may tell it; all calls are safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { STATUS_SAMPLES = 20 };

typedef struct Status {
    char phase[16];   // fetch, build, bench, play; "" between tasks
    char detail[48];  // what of it, as "new"; ""
    int64_t since_ns; // when phase or detail began
    double typical_s; // how long that took before; 0: not known
    int64_t test;
    char title[128];
    int pairs, pairs_done; // of the task
    int wins, losses, draws;
    double llr;
    bool has_llr;
    int64_t games_total;  // finished by this worker since it started
    int64_t credit;       // games that count for it, or its user, in all tests; -1: not told yet
    char credit_user[65]; // "": the machine's own
    char waiting[200];    // what it waits for, "" for work or nothing
    int64_t retry_ns;     // when it tries again
    bool stopping;        // it has been told to leave
    struct {              // games over the last minutes of this task's play
        int64_t when_ns, games;
    } samples[STATUS_SAMPLES];
    int sample_count;
} Status;

// On a terminal, status_show paints; elsewhere a phase is logged as it begins, and play at most
// once a minute.
void status_start(void);
// Changes the status under its lock.
void status_update(void (*change)(Status *status, void *ctx), void *ctx);
void status_phase(const char *phase);
// A step of the phase, as "new" of "build", and how long it usually takes (0: not known).
void status_step(const char *detail, double typical_s);
// What is waited for and for how long, as "http://…: no connection"; NULL: no longer.
void status_waiting(const char *why, double seconds);
// What a reply of the server's said of games that count so far, of `user` (NULL: of the machine).
void status_credit(const char *user, int64_t games);
void status_stopping(void);
// Games finished since the start.
int64_t status_games(void);
// Called about once a second.
void status_show(void);
void status_end(void); // leaves the terminal's line clean
