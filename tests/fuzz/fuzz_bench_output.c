// What a stranger's `bench` prints, and the time controls that a server names.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "worker/build/bench_output.h"
#include "worker/match/time_scale.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_limit(const uint8_t *data, size_t size) {
    Error err;
    MatchLimit limit;
    char text[TC_TEXT_MAX], *tc scope(free_ptr) = xstrndup((const char *)data, size);
    if (limit_parse(tc, &limit, &err) && !limit_parse(limit_text(&limit, text), &limit, &err))
        abort(); // what is written reads back
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Bench bench;
    Error err;
    if (bench_read((const char *)data, size, &bench, &err) && (bench.nodes <= 0 || bench.speed < 0))
        abort();
    if (size < 64)
        check_limit(data, size);
    return 0;
}
