// See client.h. This is only the transport: it knows no routes, no JSON and no retries.
#include "worker/api/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "server/common/log.h"
#include "worker/console/pacing.h"
#include "worker/os/process.h"

enum { ERROR_MAX = 65536, HEADERS_MAX = 65536 };
// A stall is longer than the longest normal silence, which is that of a claim.
enum { CONNECT_TIMEOUT_S = 15, STALL_S = 75, REDIRECTS_MAX = 4, RETRY_AFTER_MAX_S = 3600 };

struct Client {
    CURL *curl;
    const char *agent;
    const atomic_bool *cancel;
};

// What the callbacks of one transfer share.
typedef struct Transfer {
    Client *client;
    const HttpRequest *request;
    HttpReply *reply;
    bool sink_failed, stalled;
    size_t header_bytes;
    curl_off_t moved; // bytes, either way
    int64_t moved_ns; // when the last of them moved
} Transfer;

Client *client_new(const char *agent, const atomic_bool *cancel) {
    Client *client = xcalloc(1, sizeof *client);
    *client = (Client){.curl = curl_easy_init(), .agent = agent, .cancel = cancel};
    if (!client->curl)
        fatal("libcurl does not start");
    return client;
}

void client_free(Client *client) {
    if (client)
        curl_easy_cleanup(client->curl);
    free(client);
}

void client_release(Client **client) {
    client_free(*client);
}

void http_reply_release(HttpReply *reply) {
    str_release(&reply->body);
}

// Of an error the first bytes are kept: they are enough to say what is wrong.
static size_t take_error(HttpReply *reply, const char *bytes, size_t size) {
    size_t room = ERROR_MAX - reply->body.size;
    reply->cut = size > room;
    str_add(&reply->body, bytes, reply->cut ? room : size);
    return reply->cut ? 0 : size;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx) {
    Transfer *t = ctx;
    long status = 0;
    size *= count;
    curl_easy_getinfo(t->client->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status >= 300)
        return take_error(t->reply, bytes, size);
    if (t->request->sink && (status == 200 || status == 206)) {
        t->sink_failed = !t->request->sink(t->request->sink_ctx, bytes, size);
        return t->sink_failed ? 0 : size;
    }
    str_add(&t->reply->body, bytes, size);
    return t->reply->body.overflow ? 0 : size;
}

// libcurl keeps all headers that come.
static size_t on_header(char *bytes, size_t size, size_t count, void *ctx) {
    (void)bytes;
    Transfer *t = ctx;
    t->header_bytes += size * count;
    return t->header_bytes > HEADERS_MAX ? 0 : size * count;
}

static int on_progress(void *ctx, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up_now) {
    (void)total, (void)up_total;
    Transfer *t = ctx;
    int64_t time_ns = os_now_ns();
    if (t->moved != now + up_now) {
        t->moved = now + up_now;
        t->moved_ns = time_ns;
    }
    t->stalled = (double)(time_ns - t->moved_ns) > pacing(STALL_S) * 1e9;
    return t->stalled || (t->client->cancel && atomic_load(t->client->cancel));
}

static void note_redirect(CURL *curl, HttpReply *reply) {
    const char *to = NULL;
    curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &to);
    snprintf(reply->redirect, sizeof reply->redirect, "%s", to ? to : "");
}

// libcurl opens its connections without the flag that keeps them from programs started meanwhile.
static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)ctx, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void add_header(struct curl_slist **list, const char *name, const char *value) {
    if (!value)
        return;
    char *line scope(free_ptr) = xasprintf("%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (!longer)
        fatal("out of memory");
    *list = longer;
}

static void free_headers(struct curl_slist **list) {
    curl_slist_free_all(*list);
}

static struct curl_slist *make_headers(const HttpRequest *request) {
    struct curl_slist *list = NULL;
    char *bearer scope(free_ptr) = request->token ? xasprintf("Bearer %s", request->token) : NULL;
    add_header(&list, "Authorization", bearer);
    add_header(&list, "Idempotency-Key", request->idempotency_key);
    if (request->body) {
        add_header(&list, "Content-Type", request->type ? request->type : "application/json");
        add_header(&list, "Content-Encoding", request->encoding);
    }
    add_header(&list, "Expect", ""); // no round trip before a body
    return list;
}

// A redirect is followed if the request asks for it, but never out of TLS. libcurl drops the
// Authorization header by itself when it leads to another host.
static void set_redirects(CURL *curl, const HttpRequest *request) {
    bool tls = strncasecmp(request->url, "https:", 6) == 0;
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, request->follow ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, tls ? "https" : "http,https");
}

// SSL_CERT_FILE names a private certificate, as for other programs that use OpenSSL.
static void set_tls(CURL *curl) {
    const char *certificates = getenv("SSL_CERT_FILE");
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    if (certificates && *certificates)
        curl_easy_setopt(curl, CURLOPT_CAINFO, certificates);
}

// Everything that holds for every request.
static void set_common(Client *client, Transfer *t) {
    CURL *curl = client->curl;
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, client->agent);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    set_tls(curl);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(1000 * pacing(CONNECT_TIMEOUT_S)));
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t);
}

static void set_request(CURL *curl, const HttpRequest *request) {
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    set_redirects(curl, request);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(1000 * pacing(request->timeout_s)));
    if (request->resume) { // not RESUME_FROM: a server that knows no ranges is fine too
        char range[32];
        snprintf(range, sizeof range, "%lld-", (long long)request->resume);
        curl_easy_setopt(curl, CURLOPT_RANGE, range);
    }
    if (strcmp(request->method, "GET") == 0)
        return;
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body ? request->body : "");
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

// A certificate that has expired or is not yet valid often means that a clock is wrong.
static void ask_for_date(Error *err) {
    char today[16];
    struct tm utc;
    time_t now = time(NULL);
    size_t n = strlen(err->message);
    if (!strstr(err->message, "expired") && !strstr(err->message, "not yet valid"))
        return;
    strftime(today, sizeof today, "%Y-%m-%d", gmtime_r(&now, &utc));
    snprintf(err->message + n, sizeof err->message - n,
             " (or is this machine's clock wrong? It says %s)", today);
}

static bool transfer_error(const Transfer *t, CURLcode code, const char *detail, Error *err) {
    if (t->stalled)
        return error_set(err, 0, "no_connection", "the server sent nothing for a minute");
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return error_set(err, 0, "cancelled", "cancelled");
    if (code == CURLE_UNSUPPORTED_PROTOCOL && t->request->follow)
        return error_set(err, 0, "bad_redirect", "it redirects a download from https to http");
    if (t->sink_failed)
        return error_set(err, 0, "too_large", "the server sent more bytes than were requested");
    if (t->header_bytes > HEADERS_MAX)
        return error_set(err, 0, "too_large", "the reply has over %d bytes of headers",
                         HEADERS_MAX);
    if (t->reply->body.overflow)
        return error_set(err, 0, "too_large", "the reply is over %zu bytes", t->request->reply_max);
    // libcurl's detail contains milliseconds, so it differs each time; for TLS it says more.
    bool tls = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR;
    error_set(err, 0, "no_connection", "%s", tls && *detail ? detail : curl_easy_strerror(code));
    if (tls)
        ask_for_date(err);
    return false;
}

static double retry_after(CURL *curl) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds);
    return seconds > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : (double)seconds;
}

bool client_send(Client *client, const HttpRequest *request, HttpReply *reply, Error *err) {
    char detail[CURL_ERROR_SIZE] = "";
    Transfer t = {.client = client, .request = request, .reply = reply, .moved_ns = os_now_ns()};
    *reply = (HttpReply){0};
    str_init(&reply->body, request->reply_max);
    struct curl_slist *headers scope(free_headers) = make_headers(request);
    set_common(client, &t);
    set_request(client->curl, request);
    curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(client->curl, CURLOPT_ERRORBUFFER, detail);
    CURLcode code = curl_easy_perform(client->curl);
    curl_easy_setopt(client->curl, CURLOPT_ERRORBUFFER, NULL);
    if (code != CURLE_OK && !reply->cut) {
        transfer_error(&t, code, detail, err);
        http_reply_release(reply);
        return false;
    }
    long status = 0;
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
    reply->status = (int)status;
    reply->retry_after_s = retry_after(client->curl);
    note_redirect(client->curl, reply);
    return true;
}
