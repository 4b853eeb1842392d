// Any bytes as a multipart body: refused, or taken apart into fields whose names and texts are
// clean. The first line is the Content-Type, the rest the body.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "server/http/form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *line = memchr(data, '\n', size);
    if (!line)
        return 0;
    char *type scope(free_ptr) = xstrndup(text, (size_t)(line - text));
    size_t left = size - (size_t)(line + 1 - text);
    // A copy of its own, so that a read past the end is seen.
    char *body scope(free_ptr) = xstrndup(line + 1, left);
    Params form = {0};
    Error err = {0};
    if (form_multipart(body, left, type, &form, &err) == (err.status != 0))
        abort();
    for (size_t i = 0; i < form.count; i++)
        if (!text_is_clean(form.items[i].name, strlen(form.items[i].name)))
            abort();
    params_release(&form);
    return 0;
}
