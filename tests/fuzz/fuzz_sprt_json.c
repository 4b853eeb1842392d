// Any bytes as a request line of `sprt --json`: an answer comes back that is itself JSON.
#include "sprt/json_api.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > JSON_API_LINE_MAX)
        return 0;
    char *answer = json_api_answer((const char *)data, size);
    json_t *parsed = json_loads(answer, 0, NULL);
    if (!parsed || json_object_size(parsed) == 0 || strchr(answer, '\n'))
        abort();
    json_decref(parsed);
    free(answer);
    return 0;
}
