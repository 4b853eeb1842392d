// See fetch.h. A blob that is here has been verified: it gets its name by a rename after its hash
// was right. The unfinished file lies in the instance's work folder, so no two workers share it.
#include "worker/cache/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/hash.h"
#include "server/common/str.h"
#include "worker/console/stop.h"

enum { DOWNLOAD_TIMEOUT_S = 600, REPLY_MAX = 65536, ATTEMPTS_MAX = 5 };

typedef struct Download {
    int fd;
    int64_t size, max;
    bool too_large;
    int error; // errno of a write that failed
} Download;

static bool take_bytes(void *ctx, const char *bytes, size_t size) {
    Download *d = ctx;
    d->too_large = d->size + (int64_t)size > d->max;
    if (d->too_large)
        return false;
    while (size) {
        ssize_t n = write(d->fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            d->error = n < 0 ? errno : ENOSPC;
            return false;
        }
        bytes += n;
        size -= (size_t)n;
        d->size += n;
    }
    return true;
}

static void free_digest(EVP_MD_CTX **ctx) {
    EVP_MD_CTX_free(*ctx);
}

// Whether the file's bytes have that SHA-256.
static bool file_matches(int fd, const char *sha256) {
    EVP_MD_CTX *digest scope(free_digest) = EVP_MD_CTX_new();
    char chunk[65536];
    unsigned char sum[EVP_MAX_MD_SIZE];
    if (!digest || lseek(fd, 0, SEEK_SET) < 0 || !EVP_DigestInit_ex(digest, EVP_sha256(), NULL))
        return false;
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;)
        if (n < 0 || !EVP_DigestUpdate(digest, chunk, (size_t)n))
            return false;
    if (!EVP_DigestFinal_ex(digest, sum, NULL))
        return false;
    char hex[SHA256_HEX_MAX];
    for (int i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    return strcmp(hex, sha256) == 0;
}

// A full disk is waited for like a server that is away; a blob that is too large is an error. Bytes
// that follow an older part may be the whole file again: the hash shows it.
static ApiOutcome failed_transfer(const Download *d, const char *sha256, bool resumed, Error *err) {
    if (d->too_large && resumed)
        return API_OK;
    if (d->too_large) {
        error_set(err, 0, "too_large", "blob %.12s is over %d MiB", sha256, (int)(d->max >> 20));
        return API_REFUSED;
    }
    errno = d->error;
    if (d->error)
        error_errno(err, "a download cannot be written");
    return strcmp(err->code, "cancelled") == 0 ? API_CANCELLED : API_AWAY;
}

// One request for what is missing yet. A server that ignores the range sends a whole file again:
// then its bytes follow the old ones and the hash tells.
static ApiOutcome download(Api *api, const char *sha256, Download *d, double *retry_after_s,
                           Error *err) {
    char *url scope(free_ptr) = xasprintf("%s/api/v1/blobs/%s", api->identity->server, sha256);
    char token[SESSION_TOKEN_MAX];
    identity_token(api->identity, token);
    HttpRequest request = {.method = "GET",
                           .url = url,
                           .token = token,
                           .timeout_s = DOWNLOAD_TIMEOUT_S,
                           .reply_max = REPLY_MAX,
                           .resume = d->size,
                           .follow = true,
                           .sink = take_bytes,
                           .sink_ctx = d};
    scope(http_reply_release) HttpReply reply = {0};
    d->error = 0;
    d->too_large = false;
    if (!client_send(api->client, &request, &reply, err))
        return failed_transfer(d, sha256, request.resume > 0, err);
    *retry_after_s = reply.retry_after_s;
    if (reply.status == 200 || reply.status == 206 || reply.status == 416)
        return API_OK;
    bool servers_word = api_read_error(&reply, err);
    return servers_word && reply.status == 404 ? API_REFUSED : API_AWAY;
}

static bool keep(const Store *store, const char *sha256, const char *part, int fd, Error *err) {
    char *path scope(free_ptr) = store_blob(store, sha256);
    return (fsync(fd) == 0 && rename(part, path) == 0 && store_hold(store, path)) ||
           error_errno(err, "cannot store %s", path);
}

// The file is complete, but its hash is wrong: download it again, a few times.
static ApiOutcome start_over(Download *d, const char *sha256, int wrong, Error *err) {
    error_set(err, 0, "bad_blob", "the download of blob %.12s has another hash", sha256);
    d->size = ftruncate(d->fd, 0) == 0 ? lseek(d->fd, 0, SEEK_SET) : d->size;
    return wrong < ATTEMPTS_MAX ? API_AWAY : API_REFUSED;
}

// Downloads until the hash is right.
static ApiOutcome fetch_to(Api *api, const Store *store, const char *sha256, int64_t max_bytes,
                           const char *part, int fd, Error *err) {
    Outage *outage = &api->identity->outage;
    Waiter waiter = {0};
    Download d = {.fd = fd, .size = lseek(fd, 0, SEEK_END), .max = max_bytes};
    for (int wrong = 0;;) {
        double retry_after_s = 0;
        ApiOutcome outcome = download(api, sha256, &d, &retry_after_s, err);
        if (outcome == API_OK && file_matches(fd, sha256))
            outcome = keep(store, sha256, part, fd, err) ? API_OK : API_REFUSED;
        else if (outcome == API_OK)
            outcome = start_over(&d, sha256, ++wrong, err);
        if (outcome == API_AWAY && !stop_sleep(outage_wait(outage, &waiter, err, retry_after_s)))
            outcome = API_CANCELLED;
        if (outcome != API_AWAY) {
            outage_over(outage, &waiter, outcome == API_OK);
            return outcome;
        }
    }
}

ApiOutcome fetch_blob(Api *api, const Store *store, const char *sha256, int64_t max_bytes,
                      Error *err) {
    char *path scope(free_ptr) = store_blob(store, sha256);
    if (store_hold(store, path))
        return API_OK;
    char *part scope(free_ptr) = store_work(store, sha256);
    int fd scope(close_fd) = open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        error_errno(err, "cannot create %s", part);
        return API_REFUSED;
    }
    return fetch_to(api, store, sha256, max_bytes, part, fd, err);
}
