// The worker's status as a line of text that fits. Pure: the time is given.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { STATUS_LINE_MAX = 1024, STATUS_SAMPLES = 20 };

typedef struct Status {
    char phase[16];   // fetch, build, bench, play; "" between tasks
    char detail[48];  // what of it, as "new"; ""
    int64_t since_ns; // when phase or detail began
    double usual_s;   // how long that took before; 0: not known
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

// At most `width` columns (a character is one); `out` may take a line in UTF-8 of so many. Where it
// does not fit, the title is cut first, then what comes last goes. Control characters become '?'.
void status_line(const Status *status, int64_t now_ns, int width, char out[STATUS_LINE_MAX]);
// Games per hour over the samples and up to now; 0 while there is nothing to go by.
double status_rate(const Status *status, int64_t now_ns);
// Notes how many games there are, at most every quarter of a minute. Older samples are forgotten.
void status_sample(Status *status, int64_t now_ns);
