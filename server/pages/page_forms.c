// Pages of errors, forms that come back with the typed values, and a token that is shown once.
#include <string.h>

#include "server/common/json_member.h"
#include "server/http/request.h"
#include "server/pages/page.h"
#include "server/pages/page_new.h"

// ---- errors -------------------------------------------------------------------------------------

static const char *title_of(int status) {
    switch (status) {
    case 401:
        return "Sign in first";
    case 403:
        return "Not allowed";
    case 404:
        return "Not found";
    case 405:
        return "Not that way";
    case 409:
        return "Not in this state";
    case 413:
        return "Too large";
    case 429:
        return "Too often";
    case 503:
        return "Not just now";
    default:
        return status >= 500 ? "Something went wrong" : "Not understood";
    }
}

static json_t *error_json(const Error *err) {
    return json_pack("{s:i, s:s, s:s, s:s}", "status", err->status, "code", err->code, "message",
                     err->message, "field", err->field);
}

void page_error(Request *req, Response *res, const Error *err) {
    json_t *error = error_json(err);
    const char *title = title_of(err->status);
    if (err->status == 401)
        page_render(req, res, 401, "login", title,
                    json_pack("{s:o, s:s, s:b}", "error", error, "next", req->path, "sent", 1));
    else
        page_render(req, res, err->status, "error", title, json_pack("{s:o}", "error", error));
}

// ---- forms --------------------------------------------------------------------------------------

// "error" for the head of the form, "wrong": {FIELD: message} for beside its field.
static void add_error(json_t *document, const Error *err) {
    if (!err)
        return;
    json_object_set_new(document, "error", error_json(err));
    if (*err->field)
        json_object_set_new(document, "wrong", json_pack("{s:s}", err->field, err->message));
}

// The field as it was typed, else the parameter of the address.
static const char *typed(Request *req, const char *name) {
    const char *text = request_form(req, name, NULL);
    text = text ? text : request_query(req, name);
    return text ? text : "";
}

static json_t *simple_form(Request *req) {
    return json_pack("{s:s, s:s, s:s, s:s}", "name", typed(req, "name"), "email",
                     typed(req, "email"), "next", typed(req, "next"), "pending",
                     typed(req, "pending"));
}

// What was typed beside a file that was refused.
static json_t *net_form(Request *req) {
    Error none;
    DocContext ctx = page_context(req);
    json_t *engine, *document = doc_nets(&ctx, &none);
    size_t i;
    json_array_foreach (json_object_get(document, "engines"), i, engine)
        json_object_set_new(
            engine, "chosen",
            json_boolean(!strcmp(member_text(engine, "name"), typed(req, "engine"))));
    if (document)
        json_object_set_new(document, "values",
                            json_pack("{s:s, s:s, s:s, s:s}", "name", typed(req, "name"), "note",
                                      typed(req, "note"), "test", typed(req, "test"), "sha256",
                                      typed(req, "sha256")));
    return document;
}

static json_t *book_form(Request *req) {
    DocContext ctx = page_context(req);
    json_t *engine, *document = doc_books(&ctx);
    size_t i;
    json_array_foreach (json_object_get(document, "engines"), i, engine)
        json_object_set_new(
            engine, "chosen",
            json_boolean(!strcmp(member_text(engine, "name"), typed(req, "engine"))));
    json_object_set_new(document, "values", json_pack("{s:s}", "name", typed(req, "name")));
    return document;
}

static void add_presence(json_t *document) {
    static const char *const lists[][2] = {{"has_requests", "items"}, {"has_lacking", "lacking"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        json_object_set_new(
            document, lists[i][0],
            json_boolean(json_array_size(json_object_get(document, lists[i][1])) > 0));
}

bool page_roles(Request *req, Response *res, json_t *document) {
    if (!request_is_api(req))
        add_presence(document);
    return page_serve(req, res, "roles", "Roles", document);
}

static json_t *roles_form(Request *req) {
    DocContext ctx = page_context(req);
    json_t *document = doc_roles(&ctx);
    add_presence(document);
    json_object_set_new(document, "typed", json_string(typed(req, "text")));
    return document;
}

// The role of the form's engine, which the viewer may ask for.
static void add_lacking(const DocContext *ctx, json_t *document) {
    json_auto_t *all = doc_roles_lacking(ctx);
    json_t *each, *lacking = json_array();
    const char *engine = member_text(json_object_get(document, "engine"), "name");
    size_t i;
    json_array_foreach (all, i, each)
        if (!strcmp(member_text(each, "engine"), engine))
            json_array_append(lacking, each);
    json_object_set_new(document, "lacking", lacking);
}

static json_t *new_form(Request *req, bool is_typed) {
    Error none;
    DocContext ctx = page_context(req);
    json_t *document = doc_form(&ctx, is_typed ? &req->data->form : NULL, &none);
    if (document)
        add_lacking(&ctx, document);
    return document;
}

bool page_form(Request *req, Response *res, const char *template, const Error *err) {
    static const struct {
        const char *template, *title;
    } forms[] = {{"login", "Sign in"}, {"signup", "Make an account"},
                 {"new", "New test"},  {"nets", "Nets"},
                 {"books", "Books"},   {"roles", "Roles"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].template, template) != 0)
            continue;
        json_t *document = strcmp(template, "new") == 0     ? new_form(req, err != NULL)
                           : strcmp(template, "nets") == 0  ? net_form(req)
                           : strcmp(template, "books") == 0 ? book_form(req)
                           : strcmp(template, "roles") == 0 ? roles_form(req)
                                                            : simple_form(req);
        if (!document)
            return false;
        add_error(document, err);
        if (strcmp(template, "new") == 0)
            page_new_fields(document);
        page_render(req, res, err ? err->status : 200, template, forms[i].title, document);
        return true;
    }
    return false;
}

// Beside its field stands the first problem of each.
static json_t *wrong_fields(const json_t *problems) {
    json_t *problem, *wrong = json_object();
    size_t i;
    json_array_foreach (problems, i, problem) {
        const char *field = member_text(problem, "field");
        if (*field && !json_object_get(wrong, field))
            json_object_set(wrong, field, json_object_get(problem, "message"));
    }
    return wrong;
}

bool page_check(Request *req, Response *res, json_t *check) {
    if (request_is_api(req))
        return page_serve(req, res, "new", "", check);
    json_t *document = new_form(req, true);
    size_t net_size = 0;
    request_form(req, "net", &net_size);
    if (document) {
        json_object_set_new(document, "net_again", json_boolean(net_size > 0));
        json_object_set_new(document, "wrong", wrong_fields(json_object_get(check, "problems")));
        json_object_set(document, "check", check);
        page_new_fields(document);
        page_render(req, res, 200, "new", "New test", document);
    }
    json_decref(check);
    return document;
}

bool page_form_error(Request *req, Response *res, const char *template, const Error *err) {
    if (!req->turn->db || err->status >= 500)
        return false;
    if (strcmp(template, "account") == 0) {
        page_account(req, res, err->status, err, NULL);
        return true;
    }
    return page_form(req, res, template, err);
}

void page_account(Request *req, Response *res, int status, const Error *wrong,
                  const json_t *token) {
    DocContext ctx = page_context(req);
    json_t *document = doc_account(&ctx);
    add_error(document, wrong);
    if (token)
        json_object_set(document, "made", (json_t *)token);
    page_render(req, res, status, "account", "Account", document);
}

void page_token_made(Request *req, Response *res, const json_t *token) {
    page_account(req, res, 201, NULL, token);
}
