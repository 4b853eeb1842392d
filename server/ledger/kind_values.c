// See kind_values.h.
#include "server/ledger/kind_values.h"

#include <math.h>

json_t *kind_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *kind_eta(const TestFacts *facts, double pairs_left, double pass) {
    double games_left = 2 * fmax(pairs_left, 0);
    double seconds = facts->games_per_hour > 0 ? games_left / facts->games_per_hour * 3600 : NAN;
    if (!isfinite(games_left))
        return json_null();
    return json_pack("{s:f, s:f, s:o, s:o}", "games", 2 * facts->pairs + games_left, "games_left",
                     games_left, "seconds", kind_real(seconds), "pass", kind_real(pass));
}
