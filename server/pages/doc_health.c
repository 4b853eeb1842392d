// The server's own state: whom it trusts, its disk, and what it has left out or dropped. See doc.h.
#include "server/ledger/disk_policy.h"
#include "server/ledger/outside.h"
#include "server/pages/doc_trust.h"
#include "sql/pages.h"

static json_t *disk_json(const DocContext *ctx) {
    Disk disk = disk_of(ctx->db, ctx->data);
    return json_pack("{s:I, s:I, s:I, s:b, s:b}", "free", (json_int_t)disk.free, "total",
                     (json_int_t)disk.total, "floor", (json_int_t)disk.floor, "short",
                     disk_is_short(&disk), "low", disk_is_low(&disk));
}

json_t *doc_health(const DocContext *ctx, bool undeclared_proxy, Error *err) {
    json_t *document = sql_page_health(ctx->db), *trust = outside_document(ctx->db);
    if (!document || !trust)
        return json_decref(document), json_decref(trust),
               error_set(err, 503, "unavailable", "the database does not answer"), NULL;
    json_object_set_new(document, "ok", json_true());
    json_object_set_new(document, "undeclared_proxy", json_boolean(undeclared_proxy));
    json_object_set_new(document, "trust", trust);
    json_object_set_new(document, "unvouched", doc_unvouched(ctx));
    json_object_set_new(document, "disk", disk_json(ctx));
    return document;
}
