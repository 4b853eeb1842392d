// See request.h and handler.h. Bodies are in request_body.c and request_json.c.
#include "server/http/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "server/http/form.h"
#include "server/http/response.h"

void list_push(RequestList *list, RequestData *data) {
    data->next = NULL;
    if (list->last)
        list->last->next = data;
    else
        list->first = data;
    list->last = data;
    list->count++;
}

RequestData *list_pop(RequestList *list) {
    RequestData *data = list->first;
    if (!data)
        return NULL;
    list->first = data->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    data->next = NULL;
    return data;
}

RequestData *request_new(const Site *site, const char *target) {
    RequestData *data = xcalloc(1, sizeof *data);
    data->req.site = site;
    data->req.data = data;
    data->req.path = data->req.method = data->req.address = data->req.body = "";
    data->target = xstrdup(target);
    str_init(&data->raw, 0);
    response_init(&data->res);
    return data;
}

void request_free(RequestData *data) {
    if (data->req.state && data->req.state_free)
        data->req.state_free(data->req.state);
    for (int i = 0; i < ROUTE_PARAMS_MAX; i++)
        free(data->params[i]);
    Params *lists[] = {&data->headers, &data->query, &data->cookies, &data->form};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        params_release(lists[i]);
    str_release(&data->raw);
    str_release(&data->body);
    response_release(&data->res);
    json_decref(data->json);
    free(data->path);
    free(data->target);
    free(data);
}

void request_forget_body(RequestData *data) {
    str_release(&data->raw);
    str_release(&data->body);
    json_decref(data->json);
    data->json = NULL;
    data->req.body = "";
    data->req.body_size = 0;
}

bool request_set_target(RequestData *data, Error *err) {
    size_t size = strcspn(data->target, "?");
    const char *query = data->target[size] ? data->target + size + 1 : "";
    data->path = xstrndup(data->target, size);
    data->req.path = data->path;
    if (data->path[0] != '/' || !text_is_clean(data->target, strlen(data->target)))
        return error_set(err, 400, "bad_request", "the URL's path is broken");
    if (form_urlencoded(query, strlen(query), &data->query, err))
        return true;
    return error_set(err, 400, "bad_request", "the URL's query is broken");
}

bool request_set_params(RequestData *data, const RouteMatch *match, Error *err) {
    for (int i = 0; i < ROUTE_PARAMS_MAX && match->params[i].at; i++) {
        size_t size;
        data->params[i] = percent_decode(match->params[i].at, match->params[i].size, false, &size);
        if (!data->params[i])
            return error_set(err, 400, "bad_request", "the URL's path is broken");
        data->req.params[i] = data->params[i];
    }
    return true;
}

void request_set_cookies(RequestData *data) {
    const char *at = request_header(&data->req, "Cookie");
    while (at && *at && data->cookies.count < 32) {
        at += strspn(at, "; ");
        size_t size = strcspn(at, ";"), name = strcspn(at, "=;");
        if (name < size)
            params_add(&data->cookies, at, name, at + name + 1, size - name - 1);
        at += size;
    }
}

// ---- for handlers -------------------------------------------------------------------------------

static const char *value_of(const Param *param) {
    return param ? param->value : NULL;
}

const char *request_query(const Request *req, const char *name) {
    return value_of(params_find(&req->data->query, name));
}

const char *request_header(const Request *req, const char *name) {
    return value_of(params_find_caseless(&req->data->headers, name));
}

int64_t request_id(const Request *req, int param) {
    long id;
    const char *text = req->params[param];
    return text && parse_long(text, 1, INT64_MAX, &id) && *text != '+' ? id : 0;
}

bool request_is_api(const Request *req) {
    return !strncmp(req->path, "/api/", 5);
}

const char *request_form(const Request *req, const char *name, size_t *size) {
    const Param *param = params_find(&req->data->form, name);
    if (size)
        *size = param ? param->size : 0;
    return value_of(param);
}

Cache *request_cache(const Request *req) {
    return req->site && req->data && req->data->stage == STAGE_PREPARE ? req->site->cache : NULL;
}

// ---- refusals -----------------------------------------------------------------------------------

static const char *code_for(int status) {
    switch (status) {
    case 400:
        return "bad_request";
    case 401:
        return "unauthorized";
    case 403:
        return "forbidden";
    case 404:
        return "not_found";
    case 409:
        return "conflict";
    case 503:
        return "unavailable";
    default:
        return status >= 500 ? "internal" : "refused";
    }
}

// Messages of the operating system contain paths of the server. They go only to the log.
static void hide_inner(const RequestData *data, Error *err) {
    bool full = !strcmp(err->code, "disk_full");
    if (!full && strcmp(err->code, "system") != 0)
        return;
    log_error("%s %s: %s", data->req.method, data->req.path, err->message);
    snprintf(err->message, sizeof err->message, "%s; nothing was changed",
             full ? "the server's disk is full" : "the server failed, and its log says why");
}

void request_refuse(RequestData *data, const Error *given) {
    Error err = *given;
    if (!err.status)
        err.status = 500;
    if (!err.code[0])
        error_field(&err, err.status, code_for(err.status), given->field, "%s", given->message);
    hide_inner(data, &err);
    const char *form = data->res.form;
    const Site *site = data->req.site;
    response_clear(&data->res);
    if ((err.status == 503 || err.status == 429) && !response_value(&data->res, "Retry-After"))
        response_header(&data->res, "Retry-After", "%d", err.status == 503 ? 2 : 60);
    if (request_is_api(&data->req))
        response_error(&data->res, &err);
    else if (!form || !site->error_form(&data->req, &data->res, form, &err))
        site->error_page(&data->req, &data->res, &err);
    data->res.status = err.status;
}
