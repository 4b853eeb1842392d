// Archives that are well formed and mean harm. The input says which entries there are: links,
// devices, folders where files are, the same path twice, paths that lead out; then what a hostile
// build leaves in the unpacked tree: links. Nothing comes out beside the folder, and no path that
// is opened or made in it leads out of it.
#include "tests/fuzz/fenced_folder.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "server/common/str.h"
#include "worker/build/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Input {
    const uint8_t *at, *end;
} Input;

enum { TAR_MAX = 1 << 20, PARTS_MAX = 6, CONTENT = 600 };

static uint8_t take(Input *in) {
    return in->at < in->end ? *in->at++ : 0;
}

// Few names, so that entries meet each other.
static void take_path(Input *in, char *out, size_t size) {
    static const char *const parts[] = {"a",  "b",    "c",        "deep",   "..",   ".",
                                        "",   "/",    "a ",       "engine", ".git", "in",
                                        "\n", "\x1b", "\xc2\x9b", "-o"};
    size_t used = 0;
    *out = 0;
    for (int i = 1 + take(in) % PARTS_MAX; i > 0 && used < size; i--)
        used += (size_t)snprintf(out + used, size - used, "%s%s", parts[take(in) % 16],
                                 i > 1 ? "/" : "");
}

static void add_entry(Input *in, struct archive *archive) {
    static const mode_t types[] = {AE_IFREG, AE_IFREG, AE_IFDIR, AE_IFLNK,
                                   AE_IFREG, AE_IFIFO, AE_IFCHR, AE_IFBLK};
    char path[256], target[256];
    uint8_t kind = take(in);
    struct archive_entry *entry = archive_entry_new();
    take_path(in, path, sizeof path);
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, types[kind & 7]);
    archive_entry_set_perm(entry, (mode_t)take(in) << 4 | 0600);
    size_t content = types[kind & 7] == AE_IFREG ? take(in) % CONTENT : 0;
    if ((kind & 7) == 3 || (kind & 15) == 4) {
        take_path(in, target, sizeof target);
        if ((kind & 7) == 3)
            archive_entry_set_symlink(entry, target);
        else
            archive_entry_set_hardlink(entry, target), content = 0;
    }
    archive_entry_set_size(entry, (la_int64_t)content);
    char bytes[CONTENT] = {0};
    if (archive_write_header(archive, entry) >= ARCHIVE_WARN && content)
        archive_write_data(archive, bytes, content);
    archive_entry_free(entry);
}

static size_t make_archive(Input *in, char *tar) {
    size_t used = 0;
    struct archive *archive = archive_write_new();
    switch (take(in) % 3) {
    case 0:
        archive_write_set_format_ustar(archive);
        break;
    case 1:
        archive_write_set_format_pax(archive);
        break;
    default:
        archive_write_set_format_gnutar(archive);
        break;
    }
    archive_write_open_memory(archive, tar, TAR_MAX, &used);
    for (int i = take(in) % 24; i > 0; i--)
        add_entry(in, archive);
    archive_write_close(archive);
    archive_write_free(archive);
    return used;
}

// As a build may leave the tree: links at its top, to the outer folder and to itself.
static void add_links(Input *in, const Fence *fence) {
    char place[128];
    for (int i = take(in) % 4; i > 0; i--) {
        snprintf(place, sizeof place, "%s/%c", fence->inner, 'a' + take(in) % 3);
        if (symlink(take(in) & 1 ? ".." : "../in", place) < 0)
            continue; // something lies there
    }
}

// What was opened is below the inner folder, by the name that the kernel has for it.
static void check_place(int fd, const Fence *fence) {
    char link[64], real[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, sizeof real - 1);
    size_t inside = strlen(fence->inner);
    if (n < 0 || strncmp(real, fence->inner, inside) != 0 ||
        (real[inside] != '/' && n > (ssize_t)inside))
        abort();
}

// Paths of a task are checked before they come here (task_json); so those with dots do not.
static void try_path(Input *in, const Fence *fence) {
    char path[256];
    take_path(in, path, sizeof path);
    if (strstr(path, "..") || *path == '/' || strstr(path, "//") || !*path)
        return;
    int made scope(close_fd) = unpack_create(fence->inner, path, 0644);
    int opened scope(close_fd) = unpack_open(fence->inner, path);
    if (made >= 0)
        check_place(made, fence);
    if (opened >= 0)
        check_place(opened, fence);
    if (made >= 0 && opened < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char tar[TAR_MAX];
    Input in = {data, data + size};
    Error err;
    Fence fence;
    fence_make(&fence, "archive");
    if (!unpack_memory(tar, make_archive(&in, tar), fence.inner, &err) && !*err.message)
        abort();
    fence_is_plain(&fence);
    add_links(&in, &fence);
    for (int i = 0; i < 4; i++)
        try_path(&in, &fence);
    fence_remove(&fence);
    return 0;
}
