// Members of JSON objects by name, with a default if the member is absent: for rows of the database
// and replies of a server. Bodies of requests are checked instead: see request_json.
#pragma once

#include <jansson.h>
#include <stdint.h>

const char *member_text(const json_t *object, const char *name); // borrowed; "" when no text
int64_t member_int(const json_t *object, const char *name);      // 0 when no whole number
double member_real(const json_t *object, const char *name);      // 0 when no number
// Bytes of any origin as JSON text. If they are not UTF-8, every byte that is not ASCII becomes
// '?'. New.
json_t *text_to_json(const char *text, size_t size);
