// EPD: the operations lie within the line, and each is found or not without harm.

#include <stdlib.h>
#include <string.h>

#include "engine/rules/pgn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char operand[16];
    const char *ops;
    Position pos;
    Refusal err;
    rules_init();
    char *line = malloc(size + 1);
    if (!line)
        return 0;
    memcpy(line, data, size);
    line[size] = '\0';
    if (epd_read(line, false, &pos, &ops, &err)) {
        if (ops < line || ops > line + size)
            abort();
        epd_operation(ops, "bm", operand, sizeof operand);
        epd_operation(ops, "id", operand, sizeof operand);
        epd_operation(ops, "D1", operand, 1);
    }
    free(line);
    return 0;
}
