// See login.h.
#include "server/accounts/login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/password.h"
#include "server/common/str.h"
#include "sql/users.h"

void login_compare(Db *db, const char *name, const char *password, Login *out) {
    *out = (Login){0};
    if (strlen(password) > PASSWORD_MAX)
        return;
    SqlUserByName user scope(sql_row_free) = {0};
    if (!sql_user_by_name(db, &user, name)) {
        password_match_nobody(password);
        return;
    }
    out->user = user.id;
    out->admin = user.admin;
    snprintf(out->state, sizeof out->state, "%s", user.state);
    out->matches = password_matches(user.password, password);
    if (out->matches && password_is_weak(user.password)) {
        out->old_hash = xstrdup(user.password);
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
    return !login->new_hash ||
           sql_user_rehash(turn->db, err, .user = login->user, .old_hash = login->old_hash,
                           .new_hash = login->new_hash);
}

const char *login_place(Db *db, const char *name, const char *device, const char *address) {
    int64_t user = sql_user_of_name(db, 0, name);
    bool known = device && sql_known_network(db, .user = user, .network = device);
    return known ? device : address;
}
