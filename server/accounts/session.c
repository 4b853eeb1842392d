// See session.h.
#include "server/accounts/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sql/users.h"

enum { TOKEN_NOTED_S = 3600 };

static void viewer_fill(Viewer *viewer, int64_t user, const char *name, bool admin) {
    viewer->user_id = user;
    viewer->admin = admin;
    snprintf(viewer->name, sizeof viewer->name, "%s", name);
}

bool session_viewer(const Turn *turn, const char *secret, size_t size, Viewer *viewer) {
    char hash[SHA256_HEX_MAX];
    sha256_hex(secret, size, hash);
    SqlSessionViewer row scope(sql_row_free) = {0};
    if (!sql_session_viewer(turn->db, &row, .token_hash = hash, .now = turn->now))
        return false;
    viewer_fill(viewer, row.id, row.name, row.admin);
    viewer->by_cookie = true;
    snprintf(viewer->csrf, sizeof viewer->csrf, "%s", row.csrf);
    snprintf(viewer->session_hash, sizeof viewer->session_hash, "%s", hash);
    return true;
}

bool user_token_viewer(Turn *turn, const char *token, Viewer *viewer) {
    char hash[SHA256_HEX_MAX];
    sha256_hex(token, strlen(token), hash);
    SqlTokenViewer row scope(sql_row_free) = {0};
    if (!sql_token_viewer(turn->db, &row, hash))
        return false;
    viewer_fill(viewer, row.id, row.name, row.admin && !strcmp(row.scope, "admin"));
    snprintf(viewer->scope, sizeof viewer->scope, "%s", row.scope);
    if (isnan(row.last_used) || turn->now - row.last_used > TOKEN_NOTED_S)
        turn_note_token(turn, row.token_id);
    return true;
}

bool worker_token_viewer(const Turn *turn, const char *token, Viewer *viewer,
                         char owner[OWNER_NAME_MAX]) {
    char hash[SHA256_HEX_MAX];
    sha256_hex(token, strlen(token), hash);
    SqlWorkerViewer row scope(sql_row_free) = {0};
    if (!sql_worker_viewer(turn->db, &row, hash))
        return false;
    viewer->worker_id = row.id;
    snprintf(owner, OWNER_NAME_MAX, "%s", row.owner);
    snprintf(viewer->name, sizeof viewer->name, "%s", row.name);
    snprintf(viewer->barred, sizeof viewer->barred, "%s", row.barred);
    return true;
}

bool session_start(const Turn *turn, int64_t user_id, const char *address, NewSession *out,
                   Error *err) {
    char hash[SHA256_HEX_MAX];
    token_random(out->secret);
    token_random(out->csrf);
    sha256_hex(out->secret, strlen(out->secret), hash);
    return sql_session_add(turn->db, err, .token_hash = hash, .user = user_id, .csrf = out->csrf,
                           .address = address, .created = turn->now,
                           .expires = turn->now + SESSION_SECONDS);
}

bool session_end(const Turn *turn, const char *session_hash, Error *err) {
    return sql_session_remove(turn->db, err, session_hash);
}
