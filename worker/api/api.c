// See api.h.
#include "worker/api/api.h"

#include <stdio.h>
#include <string.h>

#include "server/common/log.h"
#include "worker/api/json_values.h"
#include "worker/console/status.h"
#include "worker/console/stop.h"

enum { REPLY_MAX = 65536, TIMEOUT_S = 60 };

void api_reply_release(ApiReply *reply) {
    json_decref(reply->json);
    *reply = (ApiReply){0};
}

bool api_read_error(const HttpReply *http, Error *err) {
    json_auto_t *root = json_loads(http->body.data, 0, NULL);
    const char *code = "", *message = "", *field = "";
    if (!root || json_unpack(root, "{s:{s:s, s:s, s?s}}", "error", "code", &code, "message",
                             &message, "field", &field) < 0)
        return error_set(err, http->status, "http", "status %d%s", http->status,
                         http->cut ? ", with a text that is too long for an error of the API" : "");
    error_field(err, http->status, code, field, "%s", message);
    return true;
}

// A reply may come from another program, such as a hotel's page with status 200, or be cut. Only a
// reply that has the form of the server's replies is accepted.
static ApiOutcome judge_success(const ApiCall *call, const HttpReply *http, ApiReply *reply,
                                Error *err) {
    if (http->status == 204 && call->may_be_empty)
        return API_OK;
    if (call->values_max && json_values_most(http->body.data, http->body.size) > call->values_max) {
        error_set(err, http->status, "too_large", "status %d, but the reply has over %zu values",
                  http->status, call->values_max);
        return API_AWAY;
    }
    reply->json = json_loadb(http->body.data, http->body.size, 0, NULL);
    if (json_is_object(reply->json) &&
        (!call->expects || json_object_get(reply->json, call->expects)))
        return API_OK;
    error_set(err, http->status, "bad_reply",
              "status %d, but the reply has not the form of the API", http->status);
    return API_AWAY;
}

static ApiOutcome judge(const ApiCall *call, const HttpReply *http, ApiReply *reply, Error *err) {
    if (http->status >= 200 && http->status < 300)
        return judge_success(call, http, reply, err);
    reply->retry_after_s = http->retry_after_s;
    if (*http->redirect) {
        error_set(err, http->status, "redirect",
                  "it redirects to %s, and only downloads follow: --server names the address that "
                  "answers itself",
                  http->redirect);
        return API_AWAY;
    }
    if (!api_read_error(http, err) && http->status != 413)
        return API_AWAY;
    if (strcmp(err->code, "protocol_too_old") == 0)
        stop_fail(err->message); // a newer worker will send what is spooled
    bool later = http->status >= 500 || http->status < 400 || http->status == 401 ||
                 http->status == 408 || http->status == 426 || http->status == 429;
    return later ? API_AWAY : API_REFUSED;
}

void api_read_credit(const json_t *reply) {
    const json_t *credit = json_object_get(reply, "credit");
    const json_t *games = json_object_get(credit, "games");
    if (json_is_integer(games))
        status_credit(json_string_value(json_object_get(credit, "user")),
                      json_integer_value(games));
}

static ApiOutcome send_once(Api *api, const ApiCall *call, const char *token, ApiReply *reply,
                            Error *err) {
    *reply = (ApiReply){0};
    char *url scope(free_ptr) = xasprintf("%s/api/v1/%s", api->identity->server, call->path);
    char *text scope(free_ptr) = call->body ? json_dumps(call->body, JSON_COMPACT) : NULL;
    HttpRequest request = {
        .method = call->method,
        .url = url,
        .token = *token ? token : NULL,
        .type = call->bytes && !call->packed ? "application/zstd" : NULL,
        .encoding = call->packed ? "zstd" : NULL,
        .idempotency_key = call->idempotency_key,
        .body = call->bytes ? call->bytes : text,
        .body_size = call->bytes ? call->bytes_size
                     : text      ? strlen(text)
                                 : 0,
        .timeout_s = call->timeout_s ? call->timeout_s : TIMEOUT_S,
        .reply_max = call->reply_max ? call->reply_max : REPLY_MAX,
    };
    scope(http_reply_release) HttpReply http = {0};
    if (!client_send(api->client, &request, &http, err))
        return strcmp(err->code, "cancelled") == 0 ? API_CANCELLED : API_AWAY;
    reply->status = http.status;
    return judge(call, &http, reply, err);
}

// POST workers; the session keeps the token.
static ApiOutcome register_worker(Api *api, Error *err) {
    ApiCall call = {.method = "POST",
                    .path = "workers",
                    .body = api->identity->registration,
                    .expects = "token"};
    ApiReply reply scope(api_reply_release) = {0};
    ApiOutcome outcome = send_once(api, &call, "", &reply, err);
    if (outcome != API_OK)
        return outcome;
    const char *token = NULL, *name = NULL,
               *user = json_string_value(json_object_get(reply.json, "user"));
    json_int_t worker = 0;
    if (json_unpack(reply.json, "{s:I, s:s, s:s}", "worker", &worker, "token", &token,
                    "installation", &name) < 0) {
        error_set(err, 0, "bad_reply", "the reply to the registration has no token");
        return API_AWAY;
    }
    if (!identity_set(api->identity, token, name, err))
        return API_AWAY;
    log_info("registered as worker %lld%s%s", (long long)worker, user ? " of " : "",
             user ? user : "");
    return API_OK;
}

// Replaces the token `old`, unless another thread has done so meanwhile. A refusal here (accounts
// required, blocked) is of this worker, not of the call that is waiting: it can be put right by a
// person, so it reads as the server being away.
static ApiOutcome renew_token(Api *api, char token[SESSION_TOKEN_MAX], Error *err) {
    char old[SESSION_TOKEN_MAX];
    memcpy(old, token, sizeof old);
    pthread_mutex_lock(&api->identity->register_lock);
    identity_token(api->identity, token);
    ApiOutcome outcome = strcmp(old, token) == 0 ? register_worker(api, err) : API_OK;
    pthread_mutex_unlock(&api->identity->register_lock);
    identity_token(api->identity, token);
    return outcome == API_REFUSED ? API_AWAY : outcome;
}

ApiOutcome api_call(Api *api, const ApiCall *call, ApiReply *reply, Error *err) {
    char token[SESSION_TOKEN_MAX];
    *reply = (ApiReply){0};
    identity_token(api->identity, token);
    if (*token) {
        ApiOutcome outcome = send_once(api, call, token, reply, err);
        if (reply->status != 401)
            return outcome;
        api_reply_release(reply);
    }
    ApiOutcome renewed = renew_token(api, token, err);
    return renewed == API_OK ? send_once(api, call, token, reply, err) : renewed;
}

ApiOutcome api_insist(Api *api, const ApiCall *call, ApiReply *reply, Error *err) {
    Outage *outage = &api->identity->outage;
    Waiter waiter = {0};
    for (;;) {
        ApiOutcome outcome = api_call(api, call, reply, err);
        if (outcome != API_AWAY) {
            outage_over(outage, &waiter, outcome != API_CANCELLED);
            return outcome;
        }
        double pause_s = outage_wait(outage, &waiter, err, reply->retry_after_s);
        api_reply_release(reply);
        if (!stop_sleep(pause_s)) {
            outage_over(outage, &waiter, false);
            return API_CANCELLED;
        }
    }
}
