// See reply.h.
#include "server/loop/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/clock.h"
#include "server/common/log.h"
#include "server/http/response.h"
#include "server/loop/admit.h"
#include "server/loop/download.h"

// No inline script or style, nothing from another site, and no frame around the page.
static const char *const always[][2] = {
    {"Content-Security-Policy",
     "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "same-origin"},
    {"X-Frame-Options", "DENY"},
};

typedef struct Range {
    off_t first, size;
    bool part, bad;
} Range;

// Reads "bytes=100-199", "bytes=100-", "bytes=-50". Several ranges at once and other units get the
// whole file, as the standard allows.
static Range range_of(const char *header, off_t size) {
    Range all = {0, size, false, false};
    long first = 0, last = (long)size - 1;
    if (!header || strncmp(header, "bytes=", 6) != 0 || strchr(header, ','))
        return all;
    const char *dash = strchr(header += 6, '-');
    if (!dash)
        return all;
    char *from scope(free_ptr) = xstrndup(header, (size_t)(dash - header));
    bool has_from = *from, has_to = dash[1];
    if ((has_from && !parse_long(from, 0, INT64_MAX, &first)) ||
        (has_to && !parse_long(dash + 1, 0, INT64_MAX, &last)) || (!has_from && !has_to))
        return all;
    if (!has_from) { // the last bytes
        first = last < size ? (long)size - last : 0;
        last = (long)size - 1;
    }
    if (last >= size)
        last = (long)size - 1;
    if (first > last)
        return (Range){.bad = true};
    return (Range){first, last - first + 1, true, false};
}

static struct MHD_Response *from_body(Response *res) {
    size_t size = res->body.size;
    return MHD_create_response_from_buffer(size, str_steal(&res->body), MHD_RESPMEM_MUST_FREE);
}

static struct MHD_Response *from_text(RequestData *data, int status, const char *code,
                                      const char *message) {
    Error err;
    error_set(&err, status, code, "%s", message);
    request_refuse(data, &err);
    return from_body(&data->res);
}

static struct MHD_Response *from_file(RequestData *data) {
    Response *res = &data->res;
    struct stat st;
    int fd = open(res->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        log_warn("cannot open %s: %s", res->file, strerror(errno));
        return from_text(data, 404, "not_found", "the file does not exist");
    }
    Range range = range_of(request_header(&data->req, "Range"), st.st_size);
    if (range.bad) {
        close(fd);
        response_header(res, "Content-Range", "bytes */%lld", (long long)st.st_size);
        return from_text(data, 416, "bad_range", "the file ends before this range");
    }
    if (range.part) {
        res->status = 206;
        response_header(res, "Content-Range", "bytes %lld-%lld/%lld", (long long)range.first,
                        (long long)(range.first + range.size - 1), (long long)st.st_size);
    }
    return MHD_create_response_from_fd_at_offset64((uint64_t)range.size, fd, (uint64_t)range.first);
}

static struct MHD_Response *from_stream(Loop *loop, RequestData *data) {
    const char *test = request_query(&data->req, "test");
    long id = 0;
    Error err;
    if (!admit_stream(data, &err))
        return from_text(data, err.status, err.code, err.message);
    if (test)
        parse_long(test, 1, INT64_MAX, &id);
    struct MHD_Response *stream = stream_open(&loop->streams, data->connection, data->network, id);
    data->res.type = "text/event-stream";
    return stream ? stream
                  : from_text(data, 503, "too_many_streams", "there are too many event streams");
}

static struct MHD_Response *from_parts(Loop *loop, RequestData *data) {
    Error err;
    struct MHD_Response *parts =
        admit_download(data, &err) ? download_open(loop, data, &err) : NULL;
    return parts ? parts : from_text(data, err.status, err.code, err.message);
}

static bool is_unchanged(const RequestData *data) {
    const char *tag = response_value(&data->res, "ETag");
    const char *known = request_header(&data->req, "If-None-Match");
    return data->res.status == 200 && !strcmp(data->req.method, "GET") && tag && known &&
           (strstr(known, tag) || !strcmp(known, "*"));
}

static struct MHD_Response *response_make(Loop *loop, RequestData *data) {
    Response *res = &data->res;
    if (is_unchanged(data)) {
        res->status = 304;
        str_clear(&res->body);
        return from_body(res);
    }
    if (res->stream)
        return from_stream(loop, data);
    // libmicrohttpd ends even a reply to HEAD as it ends a body whose size is not known.
    if (res->more && !data->is_head)
        return from_parts(loop, data);
    return res->file ? from_file(data) : from_body(res);
}

static void add_headers(struct MHD_Response *response, const Response *res) {
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        MHD_add_response_header(response, always[i][0], always[i][1]);
    if (res->type)
        MHD_add_response_header(response, "Content-Type", res->type);
    for (int i = 0; i < res->header_count; i++)
        MHD_add_response_header(response, res->headers[i].name, res->headers[i].value);
    if (!response_value(res, "Cache-Control"))
        MHD_add_response_header(response, "Cache-Control", "no-store");
}

bool http_reply(Loop *loop, RequestData *data) {
    struct MHD_Response *response = response_make(loop, data);
    if (!response)
        return false;
    if ((data->res.stream || data->res.more) && data->res.status == 200)
        MHD_add_response_header(response, "X-Accel-Buffering", "no");
    add_headers(response, &data->res);
    loop->figures.replies[data->res.status / 100 % 6]++;
    log_debug("%s %s %s %d %.1f ms", data->address, data->req.method, data->target,
              data->res.status, 1000 * (time_monotonic() - data->started));
    bool queued = MHD_queue_response(data->connection, (unsigned)data->res.status, response);
    MHD_destroy_response(response);
    return queued;
}
