// See utf8.h.
#include "server/common/utf8.h"

#include <stdbool.h>

#include "server/common/str.h"

size_t utf8_character(const char *bytes, size_t size, unsigned *code) {
    static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)bytes;
    *code = s[0];
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || n > size)
        return 0;
    *code = s[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3F);
    }
    bool fine = *code >= least[n] && *code <= 0x10FFFF && (*code < 0xD800 || *code > 0xDFFF);
    return fine ? n : 0;
}

static bool is_control(unsigned code) {
    return (code < 0x20 && code != '\t' && code != '\n') || code == 0x7F;
}

char *utf8_clean(const char *bytes, size_t size) {
    Str out;
    str_init(&out, size * 3 + 1);
    for (size_t i = 0, n; i < size; i += n ? n : 1) {
        unsigned code;
        n = utf8_character(bytes + i, size - i, &code);
        if (!n)
            str_puts(&out, "\xef\xbf\xbd");
        else if (is_control(code))
            str_putc(&out, '?');
        else
            str_add(&out, bytes + i, n);
    }
    return str_steal(&out);
}
