// See visible.h.
#include "server/common/visible.h"

#include <stdio.h>
#include <string.h>

#include "server/common/bytes_text.h"
#include "server/common/utf8.h"

// Unicode's Default_Ignorable_Code_Point (it contains the bidirectional controls and the characters
// without width), the separators of lines and paragraphs, the blank of Braille, the marks of
// interlinear annotation, the replacement of an object, the controls of hieroglyphs, and those of
// the noncharacters that are not tested below. Sorted.
static const struct {
    unsigned first, last;
} unseen[] = {
    {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x061C, 0x061C},   {0x115F, 0x1160},
    {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F},   {0x2800, 0x2800},   {0x3164, 0x3164},   {0xFDD0, 0xFDEF},
    {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFC},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

static bool is_unseen(unsigned code) {
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen && unseen[i].first <= code; i++)
        if (code <= unseen[i].last)
            return true;
    return (code & 0xFFFE) == 0xFFFE; // the last two of each plane are noncharacters
}

bool visible_is_blank(unsigned code) {
    return code == ' ' || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x202F || code == 0x205F || code == 0x3000;
}

static bool lays_out(const char *bytes, size_t size) {
    return *bytes == '\t' || *bytes == '\n' || (size > 1 && bytes[0] == '\r' && bytes[1] == '\n');
}

size_t visible_escape(const char *bytes, size_t size, bool lines, char out[VISIBLE_ESCAPE_MAX]) {
    unsigned code;
    size_t n = utf8_character(bytes, size, &code);
    *out = 0;
    if (!n)
        snprintf(out, VISIBLE_ESCAPE_MAX, "\\x%02x", (unsigned char)*bytes);
    else if (code >= BYTES_TEXT_FIRST && code <= BYTES_TEXT_LAST)
        snprintf(out, VISIBLE_ESCAPE_MAX, "\\x%02x", code - BYTES_TEXT_FIRST);
    else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
        if (!lines || !lays_out(bytes, size))
            snprintf(out, VISIBLE_ESCAPE_MAX, "\\x%02x", code);
    } else if (is_unseen(code))
        snprintf(out, VISIBLE_ESCAPE_MAX, code > 0xFFFF ? "\\U%08x" : "\\u%04x", code);
    return n ? n : 1;
}

void visible_add(Str *out, const char *bytes, size_t size, bool lines) {
    char escaped[VISIBLE_ESCAPE_MAX];
    for (size_t i = 0, n; i < size; i += n) {
        n = visible_escape(bytes + i, size - i, lines, escaped);
        if (*escaped)
            str_puts(out, escaped);
        else
            str_add(out, bytes + i, n);
    }
}

size_t visible_copy(char *out, size_t room, const char *bytes, size_t size, bool lines) {
    char escaped[VISIBLE_ESCAPE_MAX];
    size_t used = 0;
    for (size_t i = 0, n; i < size; i += n) {
        n = visible_escape(bytes + i, size - i, lines, escaped);
        size_t length = *escaped ? strlen(escaped) : n;
        if (used + length >= room)
            break;
        memcpy(out + used, *escaped ? escaped : bytes + i, length);
        used += length;
    }
    out[used] = 0;
    return used;
}
