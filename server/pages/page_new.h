// The fields of the form for a new test, as the page shows them.
#pragma once

#include <jansson.h>

// Adds "fields" to doc_form()'s document: the parts of the form, each a list of its fields, as
// web/templates/field.html reads them. `document` has "wrong" already, if a field was refused.
void page_new_fields(json_t *document);
