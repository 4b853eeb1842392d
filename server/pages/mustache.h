// Mustache templates over JSON documents (mustache(5), specification 1.2 without lambdas):
// variables, {{{raw}}}, sections, inverted sections, comments, partials, other delimiters, dotted
// names, standalone lines. One thing more: {{name|filter}} gives the filter's name, not the
// member's, to the formatter, for a value that is shown in two ways. Empty strings
// and zero are false, as in JavaScript.
//
// Values are escaped for HTML, and what would act instead of being seen is written out
// (common/visible.h). {{name|field}} is for the fields of forms, whose content comes back: escaped
// for HTML alone.
//
// A set is parsed once and read by any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "server/common/error.h"
#include "server/common/str.h"

typedef struct Mustache Mustache;

// How a number, or anything else that is not a string, becomes text: appends to `out` what the
// value of member `name` shall read like. With a filter, `name` is the filter and strings come here
// too. HTML escaping follows. NULL: JSON's own notation.
typedef void MustacheFormat(const char *name, const json_t *value, Str *out);

Mustache *mustache_new(MustacheFormat *format);
void mustache_free(Mustache *set);

// Adds a template; its partials may come later. `err` names line and tag. `text` is copied.
bool mustache_add(Mustache *set, const char *name, const char *text, Error *err);
bool mustache_has(const Mustache *set, const char *name);

// Appends the rendered template. A missing member or partial renders as nothing, as the
// specification says; false for an unknown template, nesting over 64, or an `out` that is full.
bool mustache_render(const Mustache *set, const char *name, json_t *document, Str *out, Error *err);
