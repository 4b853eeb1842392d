// The openings that the games of a fuzz input name, as if they had been dealt: so games get as far
// as their moves.
#pragma once

#include <jansson.h>
#include <string.h>

// [{"fen","moves"}], of the first game of each pair. New.
static inline json_t *openings_of(const char *text, size_t size) {
    json_t *out = json_array();
    for (const char *end = text + size; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        json_auto_t *line = json_loadb(text, (size_t)(stop - text), 0, NULL);
        json_array_append(out, json_object_get(line, "opening"));
        text = stop + 1;
        newline = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
        text = newline ? newline + 1 : end; // the second game of the pair
    }
    return out;
}
