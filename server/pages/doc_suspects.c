// The document of suspect machines: what the ledger holds against machines, and those that are
// blocked. See doc.h.
#include "server/ledger/suspects.h"
#include "server/pages/doc.h"
#include "sql/pages.h"

json_t *doc_suspects(const DocContext *ctx) {
    json_t *items = suspects_list(ctx->db, ctx->now, 0);
    json_t *blocked = sql_page_blocked(ctx->db, INT64_MAX);
    return json_pack("{s:i, s:o, s:o}", "days", SUSPECT_DAYS, "items", items, "blocked", blocked);
}
