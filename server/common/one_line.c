// See one_line.h. visible.c has the list of characters that are not allowed.
#include "server/common/one_line.h"

#include <string.h>

#include "server/common/utf8.h"
#include "server/common/visible.h"

enum { ZERO_WIDTH_JOINER = 0x200D };

// Symbols, dingbats and the planes of emoji.
static bool is_pictograph(unsigned code) {
    return (code >= 0x2600 && code <= 0x27BF) || (code >= 0x1F000 && code <= 0x1FAFF);
}

// Between two pictographs the joiner makes one emoji of them, which is seen.
static bool joins_emoji(unsigned before, unsigned code, const char *after, size_t size) {
    unsigned next;
    return code == ZERO_WIDTH_JOINER && is_pictograph(before) && size &&
           utf8_character(after, size, &next) && is_pictograph(next);
}

bool one_line_check(const char *field, const char *text, size_t low, size_t high, Error *err) {
    size_t size = strlen(text);
    unsigned before = 0, code;
    bool blank = size > 0;
    if (size < low || size > high)
        return error_field(err, 422, "bad_field", field, "%s has %zu bytes; allowed are %zu to %zu",
                           field, size, low, high);
    for (size_t i = 0; i < size; before = code) {
        char escaped[VISIBLE_ESCAPE_MAX];
        size_t n = visible_escape(text + i, size - i, false, escaped);
        utf8_character(text + i, size - i, &code);
        if (*escaped && !joins_emoji(before, code, text + i + n, size - i - n))
            return error_field(err, 422, "bad_field", field,
                               "%s must be one line of visible characters; it contains %s", field,
                               escaped);
        blank &= visible_is_blank(code);
        i += n;
    }
    return !blank ||
           error_field(err, 422, "bad_field", field, "%s consists of blanks alone", field);
}
