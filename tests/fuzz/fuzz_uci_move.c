// UCI: see move_text.h.
#include "tests/fuzz/move_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_bytes(data, size, move_from_uci, move_to_uci);
    return 0;
}
