// Pearson's correlation of two quantities, from sums over the pairs seen.
#pragma once

#include <math.h>

typedef struct Correlation {
    double n, x, y, xx, yy, xy; // zero: no pairs yet
} Correlation;

static inline void correlation_add(Correlation *sums, double x, double y) {
    sums->n += 1;
    sums->x += x;
    sums->y += y;
    sums->xx += x * x;
    sums->yy += y * y;
    sums->xy += x * y;
}

// From -1 to 1; 0 if one of the two quantities never varies.
static inline double correlation_of(const Correlation *sums) {
    double x = sums->n * sums->xx - sums->x * sums->x;
    double y = sums->n * sums->yy - sums->y * sums->y;
    return x > 0 && y > 0 ? (sums->n * sums->xy - sums->x * sums->y) / sqrt(x * y) : 0;
}
