// See login.h.
#include "server/accounts/login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/password.h"
#include "server/common/json_member.h"
#include "server/common/str.h"

void login_compare(Db *db, const char *name, const char *password, Login *out) {
    *out = (Login){0};
    if (strlen(password) > PASSWORD_MAX)
        return;
    json_auto_t *user = db_row(db, SQL_USER_BY_NAME, "s", name);
    if (!user) {
        password_match_nobody(password);
        return;
    }
    const char *stored = member_text(user, "password");
    out->user = member_int(user, "id");
    out->admin = member_int(user, "admin") == 1;
    snprintf(out->state, sizeof out->state, "%s", member_text(user, "state"));
    out->matches = password_matches(stored, password);
    if (out->matches && password_is_weak(stored)) {
        out->old_hash = xstrdup(stored);
        out->new_hash = password_hash(password);
    }
}

void login_release(Login *login) {
    free(login->old_hash);
    free(login->new_hash);
}

bool login_admit(const Turn *turn, const Login *login, Error *err) {
    if (!strcmp(login->state, "pending"))
        return error_set(err, 403, "pending", "the account waits for an admin's approval");
    if (!strcmp(login->state, "blocked"))
        return error_set(err, 403, "blocked", "the account is blocked");
    return !login->new_hash || db_run(turn->db, err, SQL_USER_REHASH, "iss", login->user,
                                      login->old_hash, login->new_hash);
}

const char *login_place(Db *db, const char *name, const char *device, const char *address) {
    int64_t user = db_int(db, SQL_USER_BY_NAME, 0, "s", name);
    bool known = device && db_int(db, SQL_KNOWN_NETWORK, 0, "is", user, device);
    return known ? device : address;
}
