// See book_unpack.h.
#include "server/storage/book_unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"

static bool begins_with(const char *bytes, size_t size, const char *magic) {
    return size >= strlen(magic) && memcmp(bytes, magic, strlen(magic)) == 0;
}

static void archive_close(struct archive **archive) {
    archive_read_free(*archive);
}

static bool damaged(struct archive *archive, Error *err) {
    const char *why = archive_error_string(archive);
    return error_set(err, 422, "bad_book", "the packed file is damaged or cut: %s",
                     why ? why : "it cannot be read");
}

static bool read_text(struct archive *archive, Str *out, Error *err) {
    char chunk[1 << 14];
    for (la_ssize_t n; (n = archive_read_data(archive, chunk, sizeof chunk)) != 0;) {
        if (n < 0)
            return damaged(archive, err);
        str_add(out, chunk, (size_t)n);
        if (out->overflow)
            return error_set(err, 413, "too_large", "the book has over %zu MiB when unpacked",
                             out->max >> 20);
    }
    return true;
}

// Folders do not count. A second file would be a second book.
static bool read_only_file(struct archive *archive, Str *out, Error *err) {
    struct archive_entry *entry;
    int files = 0, status;
    while ((status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
        if (archive_entry_filetype(entry) == AE_IFDIR)
            continue;
        if (files++)
            return error_set(err, 422, "bad_book", "the zip has more than one file");
        if (!read_text(archive, out, err))
            return false;
    }
    if (status != ARCHIVE_EOF)
        return damaged(archive, err);
    return files == 1 || error_set(err, 422, "bad_book", "the zip has no file");
}

char *book_unpack(const char *bytes, size_t size, size_t max, size_t *text_size, Error *err) {
    Str out;
    str_init(&out, max);
    struct archive *archive scope(archive_close) = archive_read_new();
    bool is_zip = begins_with(bytes, size, "PK\003\004") || begins_with(bytes, size, "PK\005\006");
    bool good = true;
    if (is_zip)
        archive_read_support_format_zip_seekable(archive);
    else {
        archive_read_support_filter_gzip(archive);
        archive_read_support_format_raw(archive);
    }
    if (!is_zip && !begins_with(bytes, size, "\x1f\x8b"))
        str_add(&out, bytes, size);
    else if (archive_read_open_memory(archive, bytes, size) != ARCHIVE_OK)
        good = damaged(archive, err);
    else
        good = read_only_file(archive, &out, err);
    if (good && out.overflow)
        good = error_set(err, 413, "too_large", "the book has over %zu MiB", max >> 20);
    *text_size = out.size;
    char *text = str_steal(&out);
    if (good)
        return text;
    free(text);
    return NULL;
}
