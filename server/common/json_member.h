// Members of JSON objects by name, with a plain answer where there is none: rows of the database,
// replies of a server. For bodies of requests, which are checked, there is request_json.
#pragma once

#include <jansson.h>
#include <stdint.h>

const char *member_text(const json_t *object, const char *name); // borrowed; "" when no text
int64_t member_int(const json_t *object, const char *name);      // 0 when no whole number
double member_real(const json_t *object, const char *name);      // 0 when no number
// Bytes of any origin as JSON text; where they are not UTF-8, what is not ASCII becomes '?'. New.
json_t *text_to_json(const char *text, size_t size);
