// See doc_misfits.h.
#include "server/pages/doc_misfits.h"

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "sql/pages.h"

// The query leaves the reason, which the ledger wrote. What follows depends on what maintainers did
// since.
static json_t *with_text(json_t *misfits) {
    json_t *misfit;
    size_t i;
    json_array_foreach (misfits, i, misfit) {
        bool excluded = json_is_true(json_object_get(misfit, "excluded"));
        const char *user = member_text(misfit, "user");
        json_object_set_new(
            misfit, "text",
            json_sprintf("The speed of machine %s (%s) does not fit its clock: %s. It gets no "
                         "further task of this test; its batches %s.",
                         member_text(misfit, "worker_name"), *user ? user : "without an account",
                         member_text(misfit, "reason"),
                         excluded ? "are excluded" : "count like all others"));
        json_object_del(misfit, "reason");
    }
    return misfits;
}

void doc_add_misfits(const DocContext *ctx, int64_t test, json_t *out) {
    json_t *misfits = with_text(sql_page_misfits(ctx->db, test));
    size_t count = json_array_size(misfits);
    const char *text = member_text(json_array_get(misfits, 0), "text");
    json_object_set_new(out, "misfits", misfits);
    json_object_set_new(out, "misfit_warning",
                        count == 0   ? json_null()
                        : count == 1 ? json_string(text)
                                     : json_sprintf("The speeds of %zu machines do not fit their "
                                                    "clocks, and these machines get no further "
                                                    "task of this test. The first of them: %s",
                                                    count, text));
}

json_t *doc_misfits_of_machine(const DocContext *ctx, int64_t machine) {
    return with_text(sql_page_misfits_of_machine(ctx->db, machine));
}

json_t *doc_misfits_of_user(const DocContext *ctx, int64_t user) {
    return with_text(sql_page_misfits_of_user(ctx->db, user));
}
