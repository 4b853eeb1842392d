// See known_options.h.
#include "server/submit/known_options.h"

#include <string.h>

#include "server/common/uci_option.h"
#include "server/submit/fields.h"
#include "sql/tests.h"

static bool in_field(const char *field, Error *err) {
    snprintf(err->field, sizeof err->field, "%s", field);
    return error_prefix(err, "%s", field);
}

// The threads of an engine may depend on the machine, so they are left to the machines.
static bool side_check(Db *db, int64_t engine, const char *sha, const char *field,
                       const json_t *fields, Error *err) {
    char *list scope(free_ptr) = sql_commit_options(db, .engine = engine, .sha = sha);
    bool chess960 = strcmp(field_text(fields, "variant"), "chess960") == 0;
    if (!list)
        return true;
    if (!uci_list_fits_text(list, field_text(fields, field), err))
        return in_field(field, err);
    return uci_list_fits_game(list, 1, chess960, err) || in_field("variant", err);
}

bool known_options_check(Db *db, int64_t engine, const char *new_sha, const char *base_sha,
                         const json_t *fields, Error *err) {
    return side_check(db, engine, new_sha, "new_options", fields, err) &&
           side_check(db, engine, base_sha, "base_options", fields, err);
}
