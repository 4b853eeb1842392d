// See idempotency.h.
#include "server/loop/idempotency.h"

#include <stdio.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/http/response.h"
#include "sql/core.h"

enum { KEY_MAX = 128, SUBJECT_MAX = 32 };

// Requests and replies of these calls contain passwords and tokens, which must not be stored in a
// table or a backup.
static bool holds_secrets(const char *path) {
    static const char *const calls[] = {"login", "users", "account", "tokens"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strncmp(path + strlen("/api/v1/"), calls[i], strlen(calls[i])))
            return true;
    return false;
}

static const char *key_of(const RequestData *data, char subject[SUBJECT_MAX]) {
    const Viewer *viewer = &data->req.viewer;
    if (!viewer->user_id || strcmp(data->req.method, "POST") != 0 || !request_is_api(&data->req) ||
        holds_secrets(data->req.path))
        return NULL;
    snprintf(subject, SUBJECT_MAX, "user:%lld", (long long)viewer->user_id);
    return request_header(&data->req, "Idempotency-Key");
}

static void hash_request(RequestData *data) {
    Str text;
    str_init(&text, data->raw.size + strlen(data->target) + 1);
    str_puts(&text, data->target);
    str_putc(&text, 0);
    str_add(&text, data->raw.data, data->raw.size);
    sha256_hex(text.data, text.size, data->request_hash);
    str_release(&text);
}

bool idempotency_look(RequestData *data, Error *err) {
    char subject[SUBJECT_MAX];
    const char *key = key_of(data, subject);
    if (!key)
        return true;
    size_t size = strlen(key);
    if (size < 1 || size > KEY_MAX)
        return error_set(err, 400, "bad_request", "Idempotency-Key has 1 to %d characters",
                         KEY_MAX);
    if (!data->request_hash[0])
        hash_request(data);
    SqlIdempotencyGet row scope(sql_row_free) = {0};
    if (!sql_idempotency_get(data->req.turn->db, &row, .subject = subject, .key = key))
        return true;
    if (strcmp(row.request_hash, data->request_hash) != 0)
        return error_set(err, 409, "key_reused",
                         "this Idempotency-Key was used for another request");
    response_text(&data->res, (int)row.status, "application/json", row.body);
    data->stage = STAGE_REPLY;
    return true;
}

bool idempotency_keep(RequestData *data, Error *err) {
    char subject[SUBJECT_MAX];
    const char *key = key_of(data, subject);
    const Response *res = &data->res;
    if (!key || res->wait || res->file || res->stream || res->status < 200 || res->status > 299)
        return true;
    return sql_idempotency_put(data->req.turn->db, err, .subject = subject, .key = key,
                               .request_hash = data->request_hash, .status = res->status,
                               .body = res->body.data, .created = data->req.turn->now);
}
