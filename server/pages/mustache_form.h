// The forms in which templates show values, as their user gives them.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "server/common/str.h"

// Appends `value` as text to `out`, in the form that the template names; NULL: it names none.
// Strings come here only with a form. HTML escaping follows.
typedef void MustacheFormat(const char *form, const json_t *value, Str *out);
// Whether there is a form of that name; a template that names another is refused.
typedef bool MustacheIsForm(const char *form);
