// See json_member.h.
#include "server/common/json_member.h"

#include "server/common/str.h"

const char *member_text(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

int64_t member_int(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

double member_real(const json_t *object, const char *name) {
    return json_number_value(json_object_get(object, name));
}

json_t *text_to_json(const char *text, size_t size) {
    json_t *value = json_stringn(text, size);
    if (value)
        return value;
    char *ascii scope(free_ptr) = xstrndup(text, size);
    for (size_t i = 0; i < size; i++)
        if ((signed char)ascii[i] <= 0)
            ascii[i] = '?';
    return json_stringn(ascii, size);
}
