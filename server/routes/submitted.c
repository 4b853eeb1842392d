// See submitted.h.
#include "server/routes/submitted.h"

#include <string.h>
#include <strings.h>

#include "server/submit/fields.h"

Caller submitted_caller(const Request *req) {
    return (Caller){.turn = req->turn, .viewer = &req->viewer, .data = req->site->data};
}

bool submitted_right(const Request *req, Action action, Error *err) {
    Caller caller = submitted_caller(req);
    SqlTestForChange row scope(sql_row_free) = {0};
    return right_to(action, &caller, request_id(req, 0), &row, err);
}

static json_t *fields_of_form(const Request *req, Error *err) {
    json_auto_t *fields = json_object();
    const FieldRule *rule;
    size_t size;
    if (request_form(req, "seed", &size) && !submit_refuse_seed(err))
        return NULL;
    for (int i = 0; (rule = submit_rule_at(i)); i++) {
        const char *text = request_form(req, rule->name, &size);
        if (text && !submit_fields_add(fields, rule->name, text, size, err))
            return NULL;
    }
    return json_incref(fields);
}

json_t *submitted_fields(Request *req, Error *err) {
    if (!request_is_api(req))
        return fields_of_form(req, err);
    json_t *body = request_object(req, err);
    return body ? submit_fields_of_json(body, err) : NULL;
}

PatchBytes submitted_patch(const Request *req) {
    PatchBytes file = {0};
    if (!request_is_api(req))
        file.bytes = request_form(req, "patch_file", &file.size);
    return file;
}

NetFile submitted_net_of_form(const Request *req) {
    NetFile file = {.name = request_form(req, "name", NULL),
                    .file_name = request_form(req, "net.filename", NULL),
                    .note = request_form(req, "note", NULL),
                    .sha256 = request_form(req, "sha256", NULL)};
    file.bytes = request_form(req, "net", &file.size);
    return file;
}

bool submitted_is_form(const Request *req) {
    static const char *const types[] = {"multipart/form-data", "application/x-www-form-urlencoded"};
    const char *type = request_header(req, "Content-Type");
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strncasecmp(type, types[i], strlen(types[i])) == 0)
            return true;
    return false;
}

static const char *or_query(const Request *req, const char *text, const char *name) {
    return text ? text : request_query(req, name);
}

NetFile submitted_net(const Request *req) {
    NetFile file = submitted_net_of_form(req);
    if (!submitted_is_form(req)) {
        file.bytes = req->body;
        file.size = req->body_size;
    }
    file.name = or_query(req, file.name, "name");
    file.note = or_query(req, file.note, "note");
    file.sha256 = or_query(req, file.sha256, "sha256");
    return file;
}
