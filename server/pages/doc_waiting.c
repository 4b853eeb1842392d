// See doc_waiting.h.
#include "server/pages/doc_waiting.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/format.h"
#include "sql/pages.h"

json_t *doc_waiting(const DocContext *ctx, const json_t *row) {
    json_t *waiting = sql_page_waiting(ctx->db, member_int(row, "id"));
    int64_t batches = member_int(waiting, "batches");
    if (!batches || strcmp(member_text(row, "state"), "finished") == 0) {
        json_decref(waiting);
        return json_null();
    }
    Str text scope(str_release);
    str_init(&text, 300);
    bool one = batches == 1;
    str_printf(&text,
               "%lld %s to be counted, because one that is due before %s is still being played. "
               "The first came ",
               (long long)batches, one ? "batch waits" : "batches wait", one ? "it" : "them");
    format_ago(ctx->now - member_real(waiting, "since"), &text);
    str_puts(&text, ".");
    json_object_set_new(waiting, "text", json_string(text.data));
    return waiting;
}
