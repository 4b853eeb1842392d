// The document of requests for roles: those that the viewer may answer, and the engines of which
// the viewer has no role.
#include "server/pages/doc.h"
#include "server/submit/role_request.h"
#include "sql/users.h"

// A token for submitting answers no requests (submit/rights.h), so it sees none.
static bool answers(const DocContext *ctx) {
    return viewer_has_role(ctx->db, ctx->viewer, 0, "maintainer");
}

int64_t doc_roles_to_answer(const DocContext *ctx) {
    return answers(ctx) ? sql_role_requests_count(ctx->db, 0, .all = ctx->viewer->admin,
                                                  .user = ctx->viewer->user_id)
                        : 0;
}

json_t *doc_roles_lacking(const DocContext *ctx) {
    return ctx->viewer->user_id && !ctx->viewer->admin
               ? sql_engines_without_role(ctx->db, .user = ctx->viewer->user_id, .now = ctx->now,
                                          .wait_s = ROLE_REQUEST_AGAIN_DAYS * 86400.0)
               : json_array();
}

json_t *doc_roles(const DocContext *ctx) {
    bool may = answers(ctx);
    json_t *items = may ? sql_role_requests_to_answer(ctx->db, .all = ctx->viewer->admin,
                                                      .user = ctx->viewer->user_id)
                        : json_array();
    return json_pack("{s:o, s:o, s:b, s:n}", "items", items, "lacking", doc_roles_lacking(ctx),
                     "answers", (int)may, "next");
}
