// What browsers send: percent-encoding, application/x-www-form-urlencoded, and multipart/form-data
// (multipart.c). Pure parsers of bytes from outside; sizes are bounded by the body's limit, the
// number of fields by FORM_FIELDS_MAX.
#pragma once

#include "server/common/error.h"
#include "server/http/params.h"

enum { FORM_FIELDS_MAX = 256 };

// `size` bytes of `text` with %XX (and, for forms, '+') undone, as new memory; its length in *out.
// NULL when an escape is broken or the result is not UTF-8 or holds a NUL.
char *percent_decode(const char *text, size_t size, bool form, size_t *out);
// Appends the fields to `out`.
bool form_urlencoded(const char *text, size_t size, Params *out, Error *err);
// `type` is the Content-Type with its boundary. Fields that carry a file also appear as
// "NAME.filename".
bool form_multipart(const char *text, size_t size, const char *type, Params *out, Error *err);
// Valid UTF-8 without NUL.
bool text_is_clean(const char *text, size_t size);
