// Any bytes as the file that names a net: no net, a name, or a refusal in words; a name makes a
// path that a worker takes.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "server/git/net_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err = {0};
    char sha[SHA256_HEX_MAX], path[NET_PATH_MAX];
    if (!net_line_read((const char *)data, size, sha, &err)) {
        assert(*err.message && !*sha);
        return 0;
    }
    if (!*sha)
        return 0;
    assert(sha256_is_hex(sha) && size >= 64 && memcmp(sha, data, 64) == 0);
    net_place(&(NetRule){NET_FILE_DEFAULT, NET_PATH_DEFAULT}, sha, path);
    assert(strncmp(path, "nets/", 5) == 0 && strcmp(path + 5, sha) == 0);
    return 0;
}
