// The body of a request: undoes its Content-Encoding, within the route's limit, and parses forms.
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "server/common/hash.h"
#include "server/http/form.h"
#include "server/http/request.h"

static void end_inflate(z_stream *stream) {
    inflateEnd(stream);
}

static bool gzip_decompress(const char *data, size_t size, Str *out, Error *err) {
    z_stream stream scope(end_inflate) = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return error_set(err, 500, "", "zlib does not start");
    char chunk[32768];
    int rc;
    do {
        stream.next_out = (Bytef *)chunk;
        stream.avail_out = sizeof chunk;
        rc = inflate(&stream, Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END)
            return error_set(err, 400, "bad_compression", "gzip: %s",
                             rc == Z_BUF_ERROR ? "the data is cut short" : "broken data");
        str_add(out, chunk, sizeof chunk - stream.avail_out);
        if (out->overflow)
            return error_set(err, 413, "too_large", "the decompressed data is over %zu bytes",
                             out->max);
    } while (rc != Z_STREAM_END);
    return true;
}

static bool body_decode(RequestData *data, Error *err) {
    const char *encoding = request_header(&data->req, "Content-Encoding");
    data->req.body = data->raw.data;
    data->req.body_size = data->raw.size;
    if (!encoding || !strcasecmp(encoding, "identity") || !data->raw.size)
        return true;
    bool zstd = !strcasecmp(encoding, "zstd");
    if (!zstd && strcasecmp(encoding, "gzip") != 0)
        return error_set(err, 415, "bad_encoding", "Content-Encoding must be zstd or gzip");
    // A small body that expands to a large one has no slot among the large bodies.
    size_t max = data->route->max_body;
    str_init(&data->body, data->large || max < BODY_LARGE ? max : BODY_LARGE);
    bool good = zstd ? zstd_decompress(data->raw.data, data->raw.size, &data->body, err)
                     : gzip_decompress(data->raw.data, data->raw.size, &data->body, err);
    data->req.body = data->body.data;
    data->req.body_size = data->body.size;
    return good;
}

static bool is_type(const char *header, const char *type) {
    size_t size = strlen(type);
    return !strncasecmp(header, type, size) && (!header[size] || strchr("; \t", header[size]));
}

bool request_open_body(RequestData *data, Error *err) {
    const char *type = request_header(&data->req, "Content-Type");
    if (!body_decode(data, err))
        return false;
    if (!type)
        return true;
    if (is_type(type, "application/x-www-form-urlencoded"))
        return form_urlencoded(data->req.body, data->req.body_size, &data->form, err);
    if (is_type(type, "multipart/form-data"))
        return form_multipart(data->req.body, data->req.body_size, type, &data->form, err);
    return true;
}
