// The handlers of the table in users.c.
#pragma once

#include "server/http/handler.h"

Handler login_prepare, login_apply, logout_apply, signup_prepare, signup_apply; // login.c
Handler password_prepare, password_apply, token_prepare, token_apply, token_revoke,
    account_show;                         // account.c
Handler user_list, user_role, user_state; // admin.c

// Where to go after a form: `next` if it is a path of ours, else `fallback`.
const char *next_path(const char *next, const char *fallback);
json_t *user_document(int64_t id, const char *name, bool admin);
