// Parses the forms of browsers: percent-encoding, application/x-www-form-urlencoded, and
// multipart/form-data (multipart.c). Pure. The bytes come from outside. Their size is bounded by
// the body's limit, and the number of fields by FORM_FIELDS_MAX.
#pragma once

#include "server/common/error.h"
#include "server/http/params.h"

enum { FORM_FIELDS_MAX = 256 };

// Decodes %XX (and, for forms, '+') in `size` bytes of `text`. Returns new memory, and its length
// in *out. NULL if an escape is broken, or if the result is not UTF-8 or has a NUL.
char *percent_decode(const char *text, size_t size, bool form, size_t *out);
// Appends the fields to `out`.
bool form_urlencoded(const char *text, size_t size, Params *out, Error *err);
// `type` is the Content-Type with its boundary. The name of the file of a field is added as a field
// "NAME.filename".
bool form_multipart(const char *text, size_t size, const char *type, Params *out, Error *err);
// Valid UTF-8 without NUL.
bool text_is_clean(const char *text, size_t size);
