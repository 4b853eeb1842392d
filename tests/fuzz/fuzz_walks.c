// Any bytes as a file of walks: refused with a reason, or exactly what would be written again.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book/walks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Walks walks;
    Refusal err = {{0}};
    if (!walks_read(data, size, &walks, &err)) {
        if (!*err.message)
            abort();
        walks_release(&walks);
        return 0;
    }
    for (uint32_t i = 1; i < walks.recipe.count; i++)
        if (walks.numbers[i] <= walks.numbers[i - 1])
            abort();
    if (walks.numbers[walks.recipe.count - 1] >= walks.recipe.walks)
        abort();
    size_t written;
    uint8_t *again = walks_write(&walks, &written);
    if (!again || written != size || memcmp(again, data, size) != 0)
        abort();
    free(again);
    walks_release(&walks);
    return 0;
}
