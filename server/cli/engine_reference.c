// See engine_reference.h.
#include "server/cli/engine_reference.h"

#include <stdlib.h>
#include <string.h>

#include "server/cli/cli.h"
#include "server/common/one_line.h"
#include "server/common/str.h"
#include "server/common/visible.h"
#include "sql/git.h"

enum { MACHINE_MAX = 300 }; // bytes of its name in words

void reference_release(Reference *reference) {
    free(reference->machine);
}

// The machine chose these texts itself.
static char *machine_in_words(const SqlEngineReferenceMeasured *row) {
    Str out scope(str_release);
    str_init(&out, 2000);
    visible_add(&out, row->name, strlen(row->name), false);
    str_puts(&out, " (");
    visible_add(&out, row->cpu, strlen(row->cpu), false);
    str_printf(&out, ", %lld cores)", (long long)row->cores);
    return str_steal(&out);
}

bool reference_measured(Db *db, int64_t engine, const char *sha, int64_t worker, Reference *out,
                        Error *err) {
    SqlEngineReferenceMeasured row scope(sql_row_free) = {0};
    if (!sql_engine_reference_measured(db, &row, .engine = engine, .sha = sha, .worker = worker))
        return error_set(err, 404, "not_found",
                         "machine %lld has measured no speed with %.10s: let it play a task while "
                         "this is the reference",
                         (long long)worker, sha);
    *out = (Reference){.speed = row.speed, .machine = machine_in_words(&row)};
    return true;
}

bool reference_given(const char *speed, const char *machine, Reference *out, Error *err) {
    if (!parse_double(speed, 1000, 1e12, &out->speed))
        return error_set(err, 422, "bad_field",
                         "'%s' is not a speed in nodes per second (1000 to 1e12)", speed);
    if (!machine)
        return error_set(err, 422, "bad_field",
                         "say on which machine a worker measured it, with --machine NAME");
    if (!one_line_check("machine", machine, 1, MACHINE_MAX, err))
        return false;
    out->machine = xstrdup(machine);
    return true;
}
