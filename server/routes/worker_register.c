// POST workers: registers a machine, which describes itself and gets its own token. See
// server/API.md.
#include <string.h>

#include "server/accounts/machine.h"
#include "server/common/one_line.h"
#include "server/routes/worker_checks.h"
#include "server/routes/worker_handlers.h"

enum { COMPILERS_MAX = 16 };

static bool compilers_check(const json_t *compilers, Error *err) {
    if (!json_is_array(compilers) || json_array_size(compilers) > COMPILERS_MAX)
        return error_field(err, 422, "bad_request", "compilers",
                           "compilers is a list of at most %d names", COMPILERS_MAX);
    for (size_t i = 0; i < json_array_size(compilers); i++) {
        const char *name = json_string_value(json_array_get(compilers, i));
        if (!name)
            return error_field(err, 422, "bad_request", "compilers",
                               "compilers is a list of names");
        if (!one_line_check("compilers", name, 1, 100, err))
            return false;
    }
    return true;
}

static bool host_check(json_t *host, Introduction *in, Error *err) {
    const char *os, *arch, *cpu, *isa = "";
    json_int_t cores, logical, memory, sandbox;
    json_t *compilers;
    json_error_t why;
    if (json_unpack_ex(host, &why, JSON_STRICT, "{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:I, s?s}",
                       "os", &os, "arch", &arch, "cpu", &cpu, "physical_cores", &cores,
                       "logical_cores", &logical, "memory_mib", &memory, "compilers", &compilers,
                       "sandbox", &sandbox, "isa", &isa) < 0)
        return error_field(err, 422, "bad_request", "host", "host: %s", why.text);
    in->cores = cores;
    return one_line_check("os", os, 1, 200, err) && one_line_check("arch", arch, 1, 64, err) &&
           one_line_check("cpu", cpu, 0, 200, err) && one_line_check("isa", isa, 0, 32, err) &&
           number_check("physical_cores", cores, 1, 4096, err) &&
           number_check("logical_cores", logical, 1, 8192, err) &&
           number_check("memory_mib", memory, 1, 1 << 28, err) &&
           number_check("sandbox", sandbox, 0, 2, err) && compilers_check(compilers, err);
}

// The token of the machine's user, if it has one.
static bool read_user_token(const json_t *token, Introduction *in, Error *err) {
    in->user_token = json_string_value(token);
    return !token || json_is_null(token) || in->user_token ||
           error_field(err, 422, "bad_request", "user_token", "user_token is text or null");
}

static bool read_introduction(Request *req, Introduction *in, json_t **host, Error *err) {
    json_int_t protocol;
    json_t *user_token = NULL;
    *in = (Introduction){.address = req->address};
    if (!request_json(req, err, "{s:I, s:s, s:s, s:s, s:s, s:o, s?o}", "protocol", &protocol,
                      "name", &in->name, "version", &in->version, "machine_key", &in->key,
                      "public_key", &in->public_key, "host", host, "user_token", &user_token) ||
        !protocol_check(protocol, err) || !one_line_check("name", in->name, 1, 64, err) ||
        !one_line_check("version", in->version, 1, 32, err) ||
        !one_line_check("machine_key", in->key, 16, 128, err))
        return false;
    if (strchr(in->key, ' '))
        return error_field(err, 422, "bad_request", "machine_key",
                           "machine_key must not have blanks");
    if (!hex_is(in->public_key, SIGNING_KEY_HEX))
        return error_field(err, 422, "bad_request", "public_key",
                           "public_key has %d lower-case hex digits", SIGNING_KEY_HEX);
    return host_check(*host, in, err) && read_user_token(user_token, in, err);
}

bool worker_register(Request *req, Response *res, Error *err) {
    Introduction in;
    Registration out;
    json_t *host; // borrowed from the request
    double wait_s;
    if (!read_introduction(req, &in, &host, err))
        return false;
    char *host_text scope(free_ptr) = json_dumps(host, JSON_COMPACT | JSON_SORT_KEYS);
    in.host = host_text;
    if (!machine_register(req->turn, &in, &out, &wait_s, err)) {
        if (wait_s > 0)
            response_header(res, "Retry-After", "%.0f", wait_s);
        return false;
    }
    response_json(res, out.is_new ? 201 : 200,
                  json_pack("{s:I, s:s, s:s, s:o}", "worker", (json_int_t)out.id, "token",
                            out.token, "installation", out.installation, "user",
                            *out.owner ? json_string(out.owner) : json_null()));
    return true;
}
