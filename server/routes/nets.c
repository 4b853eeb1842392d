// The routes that upload a net: the form of the page /nets, and the call of the API.
#include <stdlib.h>

#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "server/routes/submitted.h"
#include "server/submit/rights.h"
#include "sql/nets.h"

static const char form_template[] = "nets";

typedef struct Upload {
    SqlEngineById engine;
    NetUpload net;
} Upload;

static void upload_free(void *pointer) {
    Upload *upload = pointer;
    sql_row_free(&upload->engine);
    free(upload);
}

static bool upload_prepare(Request *req, Response *res, Error *err) {
    Upload *upload = xcalloc(1, sizeof *upload);
    res->form = form_template;
    req->state = upload;
    req->state_free = upload_free;
    Caller caller = submitted_caller(req);
    NetFile file = submitted_net(req);
    const char *of_form = request_form(req, "engine", NULL),
               *of_query = request_query(req, "engine");
    const char *engine = of_form ? of_form : of_query ? of_query : "";
    return submit_engine(req->turn->db, engine, &upload->engine, err) &&
           right_to_submit(&caller, &upload->engine, err) && respond_disk_check(req, res, err) &&
           net_upload_prepare(&caller, &file, "", &upload->net, err);
}

static bool upload_apply(Request *req, Response *res, Error *err) {
    const Upload *upload = req->state;
    bool is_new;
    res->form = form_template;
    Caller caller = submitted_caller(req);
    if (!net_upload_store(&caller, &upload->engine, &upload->net, &is_new, err))
        return false;
    if (!request_is_api(req)) {
        // The form on a test's page leads back to that page.
        char path[60] = "/nets";
        long test;
        const char *id = request_form(req, "test", NULL);
        if (id && parse_long(id, 1, INT64_MAX, &test))
            snprintf(path, sizeof path, "/tests/%ld", test);
        response_redirect(res, path);
        return true;
    }
    // A net that the server already has keeps its name.
    response_json(
        res, is_new ? 201 : 200,
        sql_net_by_sha(req->turn->db, .engine = upload->engine.id, .sha256 = upload->net.sha));
    return true;
}

const Route routes_nets[] = {
    {"POST", "/api/v1/nets", ACCESS_USER, NET_BODY_MAX, upload_prepare, upload_apply},
    {"POST", "/nets", ACCESS_USER, NET_BODY_MAX, upload_prepare, upload_apply},
    {0},
};
