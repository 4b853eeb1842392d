// Any bytes as a book that gzip may have packed: within its limit, or refused with a reason.
#include <stdint.h>
#include <stdlib.h>

#include "server/common/str.h"
#include "worker/match/book_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err = {0};
    size_t unpacked = size;
    scope(free_ptr) char *text =
        book_file_unpack(xstrndup((const char *)data, size), &unpacked, LIMIT, &err);
    if (text ? unpacked > (unpacked == size ? size : LIMIT) || text[unpacked] : !err.message[0])
        abort();
    return 0;
}
