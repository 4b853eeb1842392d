// Any bytes as a urlencoded form: refused, or taken apart into clean text.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "server/http/form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text scope(free_ptr) = xstrndup((const char *)data, size);
    Params form = {0};
    Error err = {0};
    bool taken = form_urlencoded(text, size, &form, &err);
    if (taken == (err.status != 0) || form.count > FORM_FIELDS_MAX)
        abort();
    for (size_t i = 0; i < form.count; i++)
        if (strlen(form.items[i].value) != form.items[i].size ||
            !text_is_clean(form.items[i].value, form.items[i].size))
            abort();
    params_release(&form);
    return 0;
}
