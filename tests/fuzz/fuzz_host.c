// The header Host and the target of a request, as a stranger sends them.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/inside.h"
#include "server/common/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A private host is one word of few characters, and a public address or a dot in its name is never
// private, whatever stands around it.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *host scope(free_ptr) = xstrndup((const char *)data, size);
    char *target scope(free_ptr) = xasprintf("http://%s/x", host);
    bool private = host_is_private(host), address = address_is_private(host);
    if (private && (strpbrk(host, "@/\\ ,%?#") || strlen(host) > 2 * HOST_MAX))
        abort();
    if (address && !strchr(host, ':') && !private)
        abort();
    if (private != (target_is_private(target) && !strpbrk(host, "/?#")))
        abort();
    target_is_private(host);
    return 0;
}
