// Any bytes as a patch: they are read or refused, and what was read is written in git's own form,
// which libgit2 must survive too.
#include <stddef.h>
#include <stdint.h>

#include "server/patch/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_again(const PatchFile *file) {
    Str text scope(str_release);
    str_init(&text, PATCH_BYTES_MAX * 2);
    patch_file_write(file, &text);
    git_diff *diff = NULL;
    if (git_diff_from_buffer(&diff, text.data, text.size) == 0)
        git_diff_free(diff);
}

static void fit(const PatchFile *file) {
    static const char old[] = "a\nb\n\nc";
    Str out scope(str_release);
    str_init(&out, PATCH_BYTES_MAX * 2);
    Error err;
    if (!file->binary && patch_file_name(file))
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
        for (int k = 0; k < patch.mails[i].file_count; k++) {
            read_again(&patch.mails[i].files[k]);
            fit(&patch.mails[i].files[k]);
        }
    return 0;
}
