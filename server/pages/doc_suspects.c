// The document of suspect machines: what the ledger holds against machines, and those that are
// blocked; and the tests in which unproven owners had no say in the end. See doc.h.
#include "server/ledger/suspects.h"
#include "server/pages/doc.h"
#include "sql/pages.h"

enum { DAY_S = 86400 };

json_t *doc_suspects(const DocContext *ctx) {
    json_t *items = suspects_list(ctx->db, ctx->now, 0);
    json_t *blocked = sql_page_blocked(ctx->db, INT64_MAX);
    json_t *vetoed = sql_page_vetoed(ctx->db, ctx->now - SUSPECT_DAYS * DAY_S);
    return json_pack("{s:i, s:o, s:o, s:o}", "days", SUSPECT_DAYS, "items", items, "blocked",
                     blocked, "vetoed", vetoed);
}
