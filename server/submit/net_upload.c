// See net_upload.h.
#include "server/submit/net_upload.h"

#include <string.h>
#include <strings.h>

#include "server/common/json_member.h"
#include "server/common/one_line.h"
#include "server/http/form.h"
#include "server/ledger/ledger.h"
#include "server/storage/blob.h"

static const double DAY_S = 86400;

// ---- what came ----------------------------------------------------------------------------------

static bool is_form(const Request *req) {
    static const char *const types[] = {"multipart/form-data", "application/x-www-form-urlencoded"};
    const char *type = request_header(req, "Content-Type");
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strncasecmp(type, types[i], strlen(types[i])) == 0)
            return true;
    return false;
}

// A word beside the file: a field of the form, or of the query.
static const char *word(const Request *req, const char *name) {
    const char *text = request_form(req, name, NULL);
    text = text ? text : request_query(req, name);
    return text ? text : "";
}

static const char *file_bytes(const Request *req, size_t *size) {
    if (is_form(req))
        return request_form(req, "net", size);
    *size = req->body_size;
    return req->body;
}

static bool take_line(const char *field, const char *text, char *out, size_t max, Error *err) {
    if (!one_line_check(field, text, 0, max, err))
        return false;
    memcpy(out, text, strlen(text) + 1);
    return true;
}

// Without a name the file's own, without its folders; without that, the first digits of its hash.
static bool take_name(const Request *req, NetUpload *net, Error *err) {
    const char *name = word(req, "name");
    if (!*name) {
        const char *file = request_form(req, "net.filename", NULL);
        const char *slash = file ? strrchr(file, '/') : NULL;
        name = slash ? slash + 1 : file ? file : "";
        if (strlen(name) > NET_NAME_MAX || strpbrk(name, "\r\n\t"))
            name = "";
    }
    if (*name)
        return take_line("name", name, net->name, NET_NAME_MAX, err);
    snprintf(net->name, sizeof net->name, "%.12s", net->sha);
    return true;
}

static bool check_hash(const char *wanted, const NetUpload *net, Error *err) {
    if (!*wanted || strcmp(wanted, net->sha) == 0)
        return true;
    if (!sha256_is_hex(wanted))
        return error_field(err, 422, "bad_field", "sha256",
                           "sha256: is written in 64 lower-case hex digits");
    return error_field(err, 422, "wrong_net", "net",
                       "net: the SHA-256 of this file is %s, and the one asked for is %s; is it "
                       "another file, or was it changed on its way?",
                       net->sha, wanted);
}

// A developer's disk is not the server's. What is there already takes no more of it.
static bool check_day(Request *req, const NetUpload *net, Error *err) {
    int64_t sent = db_int(req->turn->db, SQL_NET_BYTES_SINCE, 0, "id", req->viewer.user_id,
                          req->turn->now - DAY_S);
    return sent + (int64_t)net->size <= NET_DAY_MAX ||
           db_int(req->turn->db, SQL_BLOB_KNOWN, 0, "s", net->sha) ||
           error_set(err, 429, "too_many_nets",
                     "you have uploaded %lld MiB within a day, and %d MiB are the limit; try again "
                     "later",
                     (long long)(sent >> 20), NET_DAY_MAX >> 20);
}

bool net_upload_read(Request *req, const char *wanted, NetUpload *out, Error *err) {
    const char *bytes = file_bytes(req, &out->size);
    if (!bytes || !out->size)
        return error_field(err, 422, "missing_field", "net", "net: choose the file of a net");
    if (out->size > NET_BYTES_MAX)
        return error_field(err, 413, "too_large", "net",
                           "net: the file has %zu MiB, a net at most %d MiB", out->size >> 20,
                           NET_BYTES_MAX >> 20);
    sha256_hex(bytes, out->size, out->sha);
    return check_hash(wanted, out, err) && check_hash(word(req, "sha256"), out, err) &&
           take_name(req, out, err) &&
           take_line("note", word(req, "note"), out->note, NET_NOTE_MAX, err) &&
           check_day(req, out, err) && blob_put(req->site->data, bytes, out->size, out->sha, err);
}

// ---- rows ---------------------------------------------------------------------------------------

// Their pages say that the net is missing.
static void tell_waiting(Request *req, int64_t engine, const char *sha) {
    for (Query q = query(req->turn->db, SQL_NET_WAITING, "is", engine, sha); query_step(&q);)
        turn_publish(
            req->turn, "test",
            json_pack("{s:I, s:s}", "id", (json_int_t)query_int(&q, 0), "state", "pending"));
}

bool net_upload_store(Request *req, const json_t *engine, const NetUpload *net, bool *is_new,
                      Error *err) {
    int64_t id = member_int(engine, "id");
    if (!db_run(req->turn->db, err, SQL_BLOB_NOTE, "sisd", net->sha, (int64_t)net->size, "net",
                req->turn->now) ||
        !db_run(req->turn->db, err, SQL_NET_ADD, "isssid", id, net->sha, net->name, net->note,
                req->viewer.user_id, req->turn->now))
        return false;
    *is_new = db_changes(req->turn->db) == 1;
    if (!*is_new)
        return true;
    ledger_event(req->turn, "net", req->viewer.user_id, 0, 0, "%s: net %.12s (%s), %zu bytes",
                 member_text(engine, "name"), net->sha, net->name, net->size);
    tell_waiting(req, id, net->sha);
    return true;
}
