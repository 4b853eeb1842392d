// See net_upload.h.
#include "server/submit/net_upload.h"

#include <string.h>

#include "server/common/one_line.h"
#include "server/ledger/ledger.h"
#include "server/storage/blob.h"
#include "sql/nets.h"

static const double DAY_S = 86400;

// ---- the upload ---------------------------------------------------------------------------------

static const char *text_or_empty(const char *text) {
    return text ? text : "";
}

static bool take_line(const char *field, const char *text, char *out, size_t max, Error *err) {
    if (!one_line_check(field, text, 0, max, err))
        return false;
    memcpy(out, text, strlen(text) + 1);
    return true;
}

// Without a name the file's own, without its folders; without that, the first digits of its hash.
static bool take_name(const NetFile *file, NetUpload *net, Error *err) {
    const char *name = text_or_empty(file->name);
    if (!*name) {
        const char *slash = strrchr(text_or_empty(file->file_name), '/');
        name = slash ? slash + 1 : text_or_empty(file->file_name);
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
                       "net: the SHA-256 of this file is %s, not %s: it is another "
                       "file, or it was damaged during the upload",
                       net->sha, wanted);
}

// One user must not fill the disk. A net that is there already takes no more of it.
static bool check_day(const Caller *caller, const NetUpload *net, Error *err) {
    Db *db = caller->turn->db;
    int64_t sent = sql_net_bytes_since(db, 0, .user = caller->viewer->user_id,
                                       .since = caller->turn->now - DAY_S);
    return sent + (int64_t)net->size <= NET_DAY_MAX || sql_blob_known(db, net->sha) ||
           error_set(err, 429, "too_many_nets",
                     "you have uploaded %lld MiB within a day, and %d MiB are the limit; try again "
                     "later",
                     (long long)(sent >> 20), NET_DAY_MAX >> 20);
}

bool net_upload_check(const Caller *caller, const NetFile *file, const char *wanted, NetUpload *out,
                      Error *err) {
    *out = (NetUpload){.size = file->size};
    if (!file->bytes || !file->size)
        return error_field(err, 422, "missing_field", "net", "net: choose the file of a net");
    if (file->size > NET_BYTES_MAX)
        return error_field(err, 413, "too_large", "net",
                           "net: the file has %zu MiB, a net at most %d MiB", file->size >> 20,
                           NET_BYTES_MAX >> 20);
    sha256_hex(file->bytes, file->size, out->sha);
    return check_hash(wanted, out, err) && check_hash(text_or_empty(file->sha256), out, err) &&
           take_name(file, out, err) &&
           take_line("note", text_or_empty(file->note), out->note, NET_NOTE_MAX, err) &&
           check_day(caller, out, err);
}

bool net_upload_prepare(const Caller *caller, const NetFile *file, const char *wanted,
                        NetUpload *out, Error *err) {
    return net_upload_check(caller, file, wanted, out, err) &&
           blob_put(caller->data, file->bytes, file->size, out->sha, err);
}

// ---- rows ---------------------------------------------------------------------------------------

// The pages of these tests say that the net is missing.
static void tell_waiting(Turn *turn, int64_t engine, const char *sha) {
    for (SqlNetWaitingRows tests = sql_net_waiting(turn->db, .engine = engine, .sha256 = sha);
         sql_net_waiting_next(&tests);)
        turn_publish(turn, "test",
                     json_pack("{s:I, s:s}", "id", (json_int_t)tests.row.id, "state", "pending"));
}

static bool add_rows(const Caller *caller, int64_t engine, const NetUpload *net, Error *err) {
    Turn *turn = caller->turn;
    return blob_note(turn->db, net->sha, net->size, "net", turn->now, err) &&
           sql_net_add(turn->db, err, .engine = engine, .sha256 = net->sha, .name = net->name,
                       .note = net->note, .user = caller->viewer->user_id, .created = turn->now);
}

bool net_upload_store(const Caller *caller, const SqlEngineById *engine, const NetUpload *net,
                      bool *is_new, Error *err) {
    if (!add_rows(caller, engine->id, net, err))
        return false;
    *is_new = db_changes(caller->turn->db) == 1;
    if (!*is_new)
        return true;
    ledger_event(caller->turn, "net", caller->viewer->user_id, 0, 0,
                 "%s: net %.12s (%s), %zu bytes", engine->name, net->sha, net->name, net->size);
    tell_waiting(caller->turn, engine->id, net->sha);
    return true;
}

json_t *net_missing(Db *db, int64_t test) {
    json_t *nets = json_array();
    for (SqlNetMissingRows rows = sql_net_missing(db, test); sql_net_missing_next(&rows);)
        json_array_append_new(nets, json_pack("{s:s}", "sha256", rows.row.net));
    return nets;
}
