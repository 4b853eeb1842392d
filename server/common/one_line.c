// See one_line.h. Characters without width are allowed: emoji and some scripts need them. Pages
// show such a character as an escape if it is alone.
#include "server/common/one_line.h"

#include <string.h>

#include "server/common/utf8.h"
#include "server/common/visible.h"

static bool acts(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

bool one_line_check(const char *field, const char *text, size_t low, size_t high, Error *err) {
    size_t size = strlen(text);
    if (size < low || size > high)
        return error_field(err, 422, "bad_field", field, "%s has %zu bytes; allowed are %zu to %zu",
                           field, size, low, high);
    for (size_t i = 0, n; i < size; i += n) {
        unsigned code;
        char escaped[VISIBLE_ESCAPE_MAX];
        n = utf8_character(text + i, size - i, &code);
        if (n && !acts(code))
            continue;
        visible_escape(text + i, size - i, false, escaped);
        return error_field(err, 422, "bad_field", field,
                           "%s must be one line of visible characters; it contains %s", field,
                           escaped);
    }
    return true;
}
