// Any bytes as a snapshot: nothing comes out beside the folder, and nothing but files and folders
// in it.
#include "tests/fuzz/fenced_folder.h"

#include <stdint.h>

#include "worker/build/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err;
    Fence fence;
    fence_make(&fence, "tar");
    if (!unpack_memory(data, size, fence.inner, &err) && !*err.message)
        abort();
    fence_is_plain(&fence);
    fence_remove(&fence);
    return 0;
}
