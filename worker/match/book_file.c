// See book_file.h.
#include "worker/match/book_file.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "server/common/file.h"
#include "server/common/str.h"

static bool is_gzip(const char *data, size_t size) {
    return size > 2 && (unsigned char)data[0] == 0x1f && (unsigned char)data[1] == 0x8b;
}

// A file may hold several gzip streams. Their contents are joined in order, as gunzip does it.
static bool inflate_all(z_stream *stream, Str *out, Error *err) {
    unsigned char chunk[1 << 16];
    for (;;) {
        stream->next_out = chunk;
        stream->avail_out = sizeof chunk;
        int status = inflate(stream, Z_NO_FLUSH);
        size_t made = sizeof chunk - stream->avail_out;
        str_add(out, chunk, made);
        if (out->overflow)
            return error_set(err, 413, "too_large", "over %zu bytes when unpacked", out->max);
        if (status == Z_STREAM_END && stream->avail_in == 0)
            return true;
        if (status == Z_STREAM_END)
            status = inflateReset(stream);
        if (status != Z_OK || (made == 0 && stream->avail_in == 0))
            return error_set(err, 422, "bad_gzip", "gzip: %s",
                             stream->msg ? stream->msg : "the end is missing");
    }
}

char *book_file_unpack(char *data, size_t *size, size_t max, Error *err) {
    scope(free_ptr) char *packed = data;
    if (!is_gzip(data, *size)) {
        packed = NULL;
        return data;
    }
    z_stream stream = {.next_in = (unsigned char *)data, .avail_in = (unsigned)*size};
    if (*size > UINT_MAX || inflateInit2(&stream, 15 + 16) != Z_OK)
        return error_set(err, 500, "", "zlib does not start"), NULL;
    Str out;
    str_init(&out, max);
    bool fine = inflate_all(&stream, &out, err);
    inflateEnd(&stream);
    *size = out.size;
    char *text = str_steal(&out);
    if (fine)
        return text;
    free(text);
    return NULL;
}

char *book_file_read(const char *path, size_t max, size_t *size, Error *err) {
    char *data = file_read(path, max, size, err);
    if (data && !(data = book_file_unpack(data, size, max, err)))
        error_prefix(err, "%s", path);
    return data;
}
