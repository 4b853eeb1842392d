// Mustache templates over JSON documents (mustache(5), specification 1.2 without lambdas):
// variables, {{{raw}}}, sections, inverted sections, comments, partials, other delimiters, dotted
// names, standalone lines, dynamic names ({{> *name}}: the partial that the value names). One
// extension: {{name|form}} names the form in which the value is shown.
// Empty strings and zero are false, as in JavaScript.
//
// Values are escaped for HTML, and characters that would act instead of being seen (controls,
// direction marks) are written out (common/visible.h). {{name|field}} is for the fields of forms,
// whose content comes back: it is escaped for HTML and otherwise kept.
//
// A set is parsed once and may be read by any number of threads.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "server/common/error.h"
#include "server/common/str.h"
#include "server/pages/mustache_form.h"

typedef struct Mustache Mustache;

// `format` NULL: JSON's own notation. `is_form` NULL: any name is taken.
Mustache *mustache_new(MustacheFormat *format, MustacheIsForm *is_form);
void mustache_free(Mustache *set);

// Adds a template; its partials may come later. On failure `err` names line and tag. `text` is
// copied.
bool mustache_add(Mustache *set, const char *name, const char *text, Error *err);
bool mustache_has(const Mustache *set, const char *name);

// Appends the rendered template. A missing member or partial renders as nothing, as the
// specification says. Returns false for an unknown template, nesting over 64, or an `out` that is
// full.
bool mustache_render(const Mustache *set, const char *name, json_t *document, Str *out, Error *err);
