// The routes that upload a net: the form of the page /nets, and the API's call.
#include <stdlib.h>

#include "server/common/json_member.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "server/routes/submitted.h"
#include "server/submit/rights.h"

static const char form_template[] = "nets";

typedef struct Upload {
    json_t *engine; // its row
    NetUpload net;
} Upload;

static void upload_free(void *pointer) {
    Upload *upload = pointer;
    json_decref(upload->engine);
    free(upload);
}

static const char *engine_name(Request *req) {
    const char *name = request_form(req, "engine", NULL);
    name = name ? name : request_query(req, "engine");
    return name ? name : "";
}

static bool upload_prepare(Request *req, Response *res, Error *err) {
    Upload *upload = xcalloc(1, sizeof *upload);
    res->form = form_template;
    req->state = upload;
    req->state_free = upload_free;
    upload->engine = submit_engine(req->turn->db, engine_name(req), err);
    Caller caller = submitted_caller(req);
    NetFile file = submitted_net(req);
    return upload->engine && right_to_submit(&caller, upload->engine, err) &&
           respond_disk_check(req, res, err) &&
           net_upload_prepare(&caller, &file, "", &upload->net, err);
}

// The form on a test's page leads back to that page.
static void lead_back(Request *req, Response *res) {
    char path[60] = "/nets";
    long test;
    const char *id = request_form(req, "test", NULL);
    if (id && parse_long(id, 1, INT64_MAX, &test))
        snprintf(path, sizeof path, "/tests/%ld", test);
    response_redirect(res, path);
}

static bool upload_apply(Request *req, Response *res, Error *err) {
    const Upload *upload = req->state;
    bool is_new;
    res->form = form_template;
    Caller caller = submitted_caller(req);
    if (!net_upload_store(&caller, upload->engine, &upload->net, &is_new, err))
        return false;
    if (!request_is_api(req)) {
        lead_back(req, res);
        return true;
    }
    // A net that was there before keeps its name.
    json_auto_t *net = db_row(req->turn->db, SQL_NET_BY_SHA, "is", member_int(upload->engine, "id"),
                              upload->net.sha);
    json_object_set(net, "engine", json_object_get(upload->engine, "name"));
    response_json(res, is_new ? 201 : 200, json_incref(net));
    return true;
}

const Route routes_nets[] = {
    {"POST", "/api/v1/nets", ACCESS_USER, NET_BODY_MAX, upload_prepare, upload_apply},
    {"POST", "/nets", ACCESS_USER, NET_BODY_MAX, upload_prepare, upload_apply},
    {0},
};
