// The worker's status as one line of text. Pure functions: the time is a parameter.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { STATUS_LINE_MAX = 1024, STATUS_SAMPLES = 20 };

typedef struct Status {
    char phase[16];   // fetch, build, bench, play; "" between tasks
    char detail[48];  // a step of the phase, such as "new"; may be ""
    int64_t since_ns; // when phase or detail began
    double usual_s;   // how long it took before; 0: unknown
    int64_t test;
    char title[128];
    int pairs, pairs_done; // of the task
    int wins, losses, draws;
    char summary[80];     // of the test's results, as the server says it; "": unknown
    int64_t games_total;  // finished by this worker since it started
    int64_t credit;       // games that count for it, or its user, in all tests; -1: unknown
    char credit_user[65]; // "": the machine's own
    char waiting[200];    // what it waits for, "" for work or nothing
    int64_t retry_ns;     // when it tries again
    bool stopping;        // it was told to stop
    struct {              // games over the last minutes of this task's play
        int64_t when_ns, games;
    } samples[STATUS_SAMPLES];
    int sample_count;
} Status;

// Writes a line of UTF-8 of at most `width` columns, one column per character. If it does not fit,
// first the title is cut, then the last parts are left out. Control characters become '?'.
void status_line(const Status *status, int64_t now_ns, int width, char out[STATUS_LINE_MAX]);
// Games per hour from the first sample until now; 0 without samples.
double status_rate(const Status *status, int64_t now_ns);
// Adds a sample of the number of games, at most every 15 s, and removes old samples.
void status_sample(Status *status, int64_t now_ns);
