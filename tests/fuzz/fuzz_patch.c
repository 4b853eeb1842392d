// Any bytes as a patch: they are read or refused, and what was read fits a small file or is
// refused.
#include <stddef.h>
#include <stdint.h>

#include "server/patch/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fit(const PatchFile *file) {
    static const char old[] = "a\nb\n\nc";
    Str out scope(str_release);
    str_init(&out, file->binary ? PATCH_CONTENT_MAX : PATCH_BYTES_MAX * 2);
    Error err;
    if (!patch_file_name(file))
        return;
    if (file->binary)
        (void)!patch_fit_binary(file, old, sizeof old - 1, &out, &err);
    else
        (void)!patch_fit(file, old, sizeof old - 1, &out, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool started;
    if (!started)
        git_libgit2_init();
    started = true;
    Error err;
    Patch patch scope(patch_release) = {0};
    if (!patch_parse((const char *)data, size, &patch, &err))
        return 0;
    for (int i = 0; i < patch.mail_count; i++)
        for (int k = 0; k < patch.mails[i].file_count; k++)
            fit(&patch.mails[i].files[k]);
    return 0;
}
