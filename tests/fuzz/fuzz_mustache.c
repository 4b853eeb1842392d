// Any text as a template, rendered over a document that has something of everything, with itself
// as a partial.
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

#include "server/pages/format.h"
#include "server/pages/mustache.h"

static const char document[] =
    "{\"a\": {\"b\": {\"c\": 1}}, \"l\": [1, \"x\", {\"n\": 2}, [3]], \"t\": true, \"f\": false,"
    " \"s\": \"<&>\", \"n\": null, \"e\": [], \"elo\": -1.5, \"created\": 1700000000.5}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err;
    Str out;
    char *text = xstrndup((const char *)data, size);
    json_t *json = json_loads(document, 0, NULL);
    Mustache *set = mustache_new(format_value, format_is_known);
    if (mustache_add(set, "p", text, &err)) {
        str_init(&out, 1 << 16);
        if (!mustache_render(set, "p", json, &out, &err) && !err.message[0])
            abort();
        str_release(&out);
    }
    mustache_free(set);
    json_decref(json);
    free(text);
    return 0;
}
