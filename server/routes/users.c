// The table of routes for accounts: each action is a form of a page and a call of the API, with the
// same handlers. The pages that hold the forms are in pages.c.
#include "server/routes/routes.h"
#include "server/routes/users_handlers.h"

enum { SMALL = 4096 };

#define BOTH(page, api, access, prepare, apply)                                                    \
    {"POST", page, access, SMALL, prepare, apply}, {                                               \
        "POST", "/api/v1" api, access, SMALL, prepare, apply                                       \
    }

const Route routes_users[] = {
    BOTH("/login", "/login", ACCESS_ANYONE, login_prepare, login_apply),
    BOTH("/logout", "/logout", ACCESS_ANYONE, NULL, logout_apply),
    BOTH("/signup", "/users", ACCESS_ANYONE, signup_prepare, signup_apply),
    BOTH("/account/password", "/account/password", ACCESS_PERSON, password_prepare, password_apply),
    BOTH("/account/tokens", "/tokens", ACCESS_PERSON, token_prepare, token_apply),
    BOTH("/account/tokens/{id}/revoke", "/tokens/{id}/revoke", ACCESS_PERSON, NULL, token_revoke),
    BOTH("/admin/users/{name}/role", "/users/{name}/role", ACCESS_ADMIN, NULL, user_role),
    BOTH("/admin/users/{name}/state", "/users/{name}/state", ACCESS_ADMIN, NULL, user_state),
    {"GET", "/api/v1/account", ACCESS_USER, 0, account_show, NULL},
    {"GET", "/api/v1/users", ACCESS_ADMIN, 0, user_list, NULL},
    {0},
};
