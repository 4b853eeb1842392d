// See json_values.h. Every value but the first comes after `[`, `{` or a comma that is not within a
// string.
#include "worker/api/json_values.h"

#include <stdbool.h>

size_t json_values_most(const char *text, size_t size) {
    size_t count = 1;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            in_string = !in_string;
        else if (in_string && text[i] == '\\')
            i++;
        else if (!in_string && (text[i] == ',' || text[i] == '[' || text[i] == '{'))
            count++;
    }
    return count;
}
