// See rate_limit.h. The generic cell rate algorithm. For each address one time is kept: the time at
// which its last write would be due if all writes came at an even rate. An address that is more
// than a minute ahead must wait.
#include "server/http/rate_limit.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/str.h"

// Two addresses in one slot share its limit. The seed is secret, so this happens rarely and by
// chance.
enum { SLOTS = 1 << 16 };
static const double WINDOW_S = 60;

struct Rate {
    uint64_t seed;
    double due[SLOTS];
};

Rate *rate_new(void) {
    Rate *rate = xcalloc(1, sizeof *rate);
    random_bytes(&rate->seed, sizeof rate->seed);
    return rate;
}

void rate_free(Rate *rate) {
    free(rate);
}

bool rate_take(Rate *rate, const char *address, double per_minute, double now, double *wait_s) {
    struct in6_addr six;
    bool is_six = inet_pton(AF_INET6, address, &six) == 1;
    const void *bytes = is_six ? (const void *)six.s6_addr : address;
    uint64_t hash = table_hash(rate->seed, bytes, is_six ? 8 : strlen(address)); // 8: the network
    double *due = &rate->due[hash % SLOTS];
    double each = WINDOW_S / per_minute, next = fmax(*due, now) + each;
    *wait_s = fmax(0, next - now - WINDOW_S);
    if (*wait_s > 1e-9)
        return false;
    *due = next;
    return true;
}
