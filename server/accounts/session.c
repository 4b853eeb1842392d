// See session.h.
#include "server/accounts/session.h"

#include <stdio.h>
#include <string.h>

#include "server/common/json_member.h"

enum { TOKEN_NOTED_S = 3600 };

static void copy_text(char *out, size_t size, const json_t *row, const char *name) {
    const char *text = json_string_value(json_object_get(row, name));
    snprintf(out, size, "%s", text ? text : "");
}

static void viewer_fill(Viewer *viewer, const json_t *row) {
    viewer->user_id = member_int(row, "id");
    viewer->admin = member_int(row, "admin") == 1;
    copy_text(viewer->name, sizeof viewer->name, row, "name");
}

bool session_viewer(const Turn *turn, const char *secret, size_t size, Viewer *viewer) {
    char hash[SHA256_HEX_MAX];
    sha256_hex(secret, size, hash);
    json_auto_t *row = db_row(turn->db, SQL_SESSION_VIEWER, "sd", hash, turn->now);
    if (!row)
        return false;
    viewer_fill(viewer, row);
    viewer->by_cookie = true;
    copy_text(viewer->csrf, sizeof viewer->csrf, row, "csrf");
    snprintf(viewer->session_hash, sizeof viewer->session_hash, "%s", hash);
    return true;
}

bool user_token_viewer(Turn *turn, const char *token, Viewer *viewer) {
    char hash[SHA256_HEX_MAX];
    sha256_hex(token, strlen(token), hash);
    json_auto_t *row = db_row(turn->db, SQL_TOKEN_VIEWER, "s", hash);
    if (!row)
        return false;
    viewer_fill(viewer, row);
    copy_text(viewer->scope, sizeof viewer->scope, row, "scope");
    viewer->admin &= !strcmp(viewer->scope, "admin");
    if (turn->now - member_real(row, "last_used") > TOKEN_NOTED_S)
        turn_note_token(turn, member_int(row, "token_id"));
    return true;
}

bool worker_token_viewer(const Turn *turn, const char *token, Viewer *viewer,
                         char owner[OWNER_NAME_MAX]) {
    char hash[SHA256_HEX_MAX];
    sha256_hex(token, strlen(token), hash);
    json_auto_t *row = db_row(turn->db, SQL_WORKER_VIEWER, "s", hash);
    if (!row)
        return false;
    viewer->worker_id = member_int(row, "id");
    copy_text(owner, OWNER_NAME_MAX, row, "owner");
    copy_text(viewer->name, sizeof viewer->name, row, "name");
    copy_text(viewer->barred, sizeof viewer->barred, row, "barred");
    return true;
}

bool session_start(const Turn *turn, int64_t user_id, const char *address, NewSession *out,
                   Error *err) {
    char hash[SHA256_HEX_MAX];
    token_random(out->secret);
    token_random(out->csrf);
    sha256_hex(out->secret, strlen(out->secret), hash);
    return db_write(turn->db, err, SQL_SESSION_ADD,
                    json_pack("{s:s, s:I, s:s, s:s, s:f, s:f}", "token_hash", hash, "user_id",
                              (json_int_t)user_id, "csrf", out->csrf, "address", address, "created",
                              turn->now, "expires", turn->now + SESSION_SECONDS));
}

bool session_end(const Turn *turn, const char *session_hash, Error *err) {
    return db_run(turn->db, err, SQL_SESSION_REMOVE, "s", session_hash);
}
