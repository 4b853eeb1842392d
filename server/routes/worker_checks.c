// See worker_checks.h.
#include "server/routes/worker_checks.h"

#include "server/ledger/ledger.h"

bool protocol_check(int64_t protocol, Error *err) {
    if (protocol >= PROTOCOL_VERSION)
        return true;
    return error_field(err, 426, "protocol_too_old", "protocol",
                       "this worker speaks protocol %lld, the server %d: install a newer worker",
                       (long long)protocol, PROTOCOL_VERSION);
}

bool number_check(const char *field, int64_t value, int64_t low, int64_t high, Error *err) {
    return (value >= low && value <= high) ||
           error_field(err, 422, "bad_request", field, "%s is %lld to %lld", field, (long long)low,
                       (long long)high);
}

json_t *credit_json(Request *req) {
    Credit credit = ledger_credit(req->turn->db, req->viewer.worker_id);
    return json_pack("{s:I, s:o}", "games", (json_int_t)credit.games, "user",
                     *credit.user ? json_string(credit.user) : json_null());
}
