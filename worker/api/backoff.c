// See backoff.h.
#include "worker/api/backoff.h"

#include <math.h>
#include <stdint.h>

#include "server/common/hash.h"
#include "worker/console/pacing.h"

static const double longest_s = 60;

// Uniform in [0, 1).
static double jitter(void) {
    uint32_t bits;
    random_bytes(&bits, sizeof bits);
    return bits / 4294967296.0;
}

double backoff_next(Backoff *backoff, double retry_after_s) {
    double ceiling = 1.0 * (1 << backoff->failures);
    if (ceiling < longest_s)
        backoff->failures++;
    else
        ceiling = longest_s;
    if (retry_after_s > 0)
        return pacing(fmin(retry_after_s * (1 + jitter() / 4), longest_s * (1 - jitter() / 4)));
    return pacing(ceiling * (0.5 + jitter() / 2));
}

void backoff_reset(Backoff *backoff) {
    backoff->failures = 0;
}
