// See bytes_text.h.
#include "server/common/bytes_text.h"

#include "server/common/utf8.h"

// In UTF-8 these characters begin with F4 8F; two more bytes follow.
static void add_byte(Str *out, unsigned char byte) {
    const unsigned char character[] = {0xF4, 0x8F, (unsigned char)(0xBC | byte >> 6),
                                       (unsigned char)(0x80 | (byte & 0x3F))};
    str_add(out, character, sizeof character);
}

void bytes_text_add(Str *out, const char *bytes, size_t size) {
    unsigned code;
    for (size_t i = 0, n; i < size; i += n) {
        n = utf8_character(bytes + i, size - i, &code);
        if (n && code && (code < BYTES_TEXT_FIRST || code > BYTES_TEXT_LAST))
            str_add(out, bytes + i, n);
        else
            add_byte(out, (unsigned char)bytes[i]), n = 1;
    }
}
