// needs: worker common rules
// What strangers' compilers and engines print, on its way into JSON and to people's eyes.
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../worker/plain_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plain(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') ||
            text[i] == 0x7F)
            abort();
}

// jansson refuses what is not UTF-8, and plain_tail ends the program then.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[64];
    size_t max = size / 2 + 1;
    json_auto_t *tail = plain_tail((const char *)data, size, max);
    if (json_string_length(tail) > max)
        abort();
    check_plain(json_string_value(tail), json_string_length(tail));
    first_error((const char *)data, size, line, sizeof line);
    check_plain(line, strlen(line));
    return 0;
}
