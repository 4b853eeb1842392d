// Machines of several owners that tell how fast they are, for tests of what follows from that. A
// task has 2 batches of 8 games. Machines 1 and 2 are ada's, 3 is ben's, 4 is nobody's, 5 is cyd's,
// and 11 to 20 are dan's.
#pragma once

#include "tests/kit/ledger_kit.h"

enum { DAN = 11, DAN_LAST = 20 };
extern LedgerKit speed_kit;

// A machine with what it tells. Speeds are in units of the reference speed; in play 0: nothing.
typedef struct Told {
    int64_t worker;
    double measured, in_play;
    const char *result; // further members of the result; NULL: none
} Told;

// Setup and teardown of a test. 0, or -1.
int speed_open(void **state);
int speed_close(void **state);

// Fails the test if the claim is refused. 0: there is no work.
int64_t speed_claim(int64_t worker);
void speed_post(int64_t task, int64_t seq, Told told);
// The machine plays whole tasks until it has 16 games.
void speed_play(Told told);
// Three honest machines of three owners, one of them slow and one fast.
void speed_others_play(void);
// Whether the machine gets no task, which a row of misfits must say, too.
bool speed_is_barred(int64_t worker);
// The rows of misfits, live or not.
int64_t speed_misfits(void);
