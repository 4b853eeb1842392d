// See pacing.h.
#include "worker/console/pacing.h"

#include <stdlib.h>

#include "server/common/str.h"

double pacing(double seconds) {
    double share;
    const char *text = getenv("PATCHMATE_PACING");
    return text && parse_double(text, 0.001, 1, &share) ? seconds * share : seconds;
}
