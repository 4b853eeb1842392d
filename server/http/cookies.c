// See cookies.h.
#include "server/http/cookies.h"

#include <stdio.h>
#include <string.h>

#include "server/common/hash.h"

static const char session_name[] = "patchmate_session", device_cookie[] = "patchmate_device";

static void set_cookie(const Request *req, Response *res, const char *name, const char *value,
                       long age) {
    response_header(res, "Set-Cookie", "%s=%s; Path=/; Max-Age=%ld; HttpOnly; SameSite=Lax%s", name,
                    value, age, req->data->https ? "; Secure" : "");
}

const char *session_cookie(const RequestData *data, size_t *size) {
    const Param *cookie = params_find(&data->cookies, session_name);
    *size = cookie ? cookie->size : 0;
    return cookie ? cookie->value : NULL;
}

void session_cookie_set(const Request *req, Response *res, const char *secret, long seconds) {
    set_cookie(req, res, session_name, secret, seconds);
}

void session_cookie_clear(const Request *req, Response *res) {
    set_cookie(req, res, session_name, "", 0);
}

static void device_name(const char *token, size_t size, char out[DEVICE_MAX]) {
    char hash[SHA256_HEX_MAX];
    snprintf(out, DEVICE_MAX, "device %.32s", sha256_hex(token, size, hash));
}

bool device_of(const Request *req, char out[DEVICE_MAX]) {
    const Param *cookie = params_find(&req->data->cookies, device_cookie);
    if (cookie)
        device_name(cookie->value, cookie->size, out);
    return cookie;
}

void device_start(const Request *req, Response *res, char out[DEVICE_MAX]) {
    char token[TOKEN_MAX];
    token_random(token);
    device_name(token, strlen(token), out);
    set_cookie(req, res, device_cookie, token, DEVICE_SECONDS);
}
