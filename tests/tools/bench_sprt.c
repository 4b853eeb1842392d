// How many log-likelihood ratios of a pentanomial libsprt gives a second, for each model; for
// `make bench`. The limit is a microsecond each.
#include "sprt/sprt.h"

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 100000, LAWS = 8 };

static const double COUNTS[LAWS][5] = {
    {10, 20, 40, 22, 8},          {0, 5, 90, 10, 0},
    {43, 61, 144, 55, 37},        {1187, 7410, 13475, 7378, 1164},
    {500, 5000, 9000, 5300, 560}, {39, 2226, 31451, 2412, 40},
    {105, 4097, 9338, 4364, 112}, {10789, 19328, 33806, 19402, 10543},
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bench(const char *name, SprtModel model, double elo0, double elo1) {
    double sum = 0, start = now();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < LAWS; i++)
            sum += sprt_llr(model, elo0, elo1, COUNTS[i], 5);
    double each = (now() - start) / ((double)ROUNDS * LAWS);
    printf("LLR %-10s <%g,%g>  %9.0f /s  %.3f us (limit 1)  sum %.6g\n", name, elo0, elo1, 1 / each,
           1e6 * each, sum);
}

int main(void) {
    bench("logistic", SPRT_LOGISTIC, 0, 10);
    bench("normalized", SPRT_NORMALIZED, 0, 2);
    bench("normalized", SPRT_NORMALIZED, 0.5, 2.5);
    return 0;
}
