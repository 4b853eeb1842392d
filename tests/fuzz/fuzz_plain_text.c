// What strangers' compilers and engines print, on its way into JSON and to people's eyes.
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/bytes_text.h"
#include "server/common/utf8.h"
#include "server/common/visible.h"
#include "worker/build/plain_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_visible(const char *text, size_t size, bool lines) {
    unsigned code;
    for (size_t i = 0, n; i < size; i += n) {
        n = utf8_character(text + i, size - i, &code);
        bool layout = lines && code && strchr("\t\r\n", (int)code);
        if (!n || (code < 0x20 && !layout) || (code >= 0x7F && code < 0xA0) ||
            (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E))
            abort();
    }
}

static void check_eyes(const char *bytes, size_t size) {
    char copy[100];
    Str out;
    for (int lines = 0; lines < 2; lines++) {
        str_init(&out, 10 * size);
        visible_add(&out, bytes, size, lines);
        check_visible(out.data, out.size, lines);
        check_visible(copy, visible_copy(copy, sizeof copy, bytes, size, lines), lines);
        str_release(&out);
    }
}

// The way back: every byte must be there.
static void check_bytes(const char *text, size_t size, const uint8_t *data) {
    unsigned code;
    for (size_t i = 0, n; i < size; i += n) {
        n = utf8_character(text + i, size - i, &code);
        if (!n || !code)
            abort();
        bool byte = code >= BYTES_TEXT_FIRST && code <= BYTES_TEXT_LAST;
        if (byte ? *data != code - BYTES_TEXT_FIRST : memcmp(text + i, data, n) != 0)
            abort();
        data += byte ? 1 : n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[64];
    size_t max = size / 2 + 1;
    Str text;
    str_init(&text, 4 * size);
    bytes_text_add(&text, (const char *)data, size);
    check_bytes(text.data, text.size, data);
    json_auto_t *tail = plain_tail(text.data, text.size, max);
    json_auto_t *wild = plain_tail((const char *)data, size, max);
    if (!tail || !wild || json_string_length(tail) > max || json_string_length(wild) > max)
        abort();
    check_eyes((const char *)data, size);
    first_error((const char *)data, size, line, sizeof line);
    check_visible(line, strlen(line), false);
    str_release(&text);
    return 0;
}
