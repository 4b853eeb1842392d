// The routes for signing up, in and out. The slow part, scrypt, runs on a reader. The turn writes,
// and checks once more whether another attempt is allowed, because other attempts may have come in
// between.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/login.h"
#include "server/accounts/password.h"
#include "server/accounts/session.h"
#include "server/http/cookies.h"
#include "server/ledger/ledger.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"

enum { BODY_MAX = 4096 };

typedef struct LoginRequest {
    const char *name, *next; // borrowed from the request
    Login login;
} LoginRequest;

static void free_login(void *state) {
    login_release(&((LoginRequest *)state)->login);
    free(state);
}

static bool read_login(Request *req, LoginRequest *login, const char **password, Error *err) {
    if (request_is_api(req))
        return request_json(req, err, "{s:s,s:s}", "name", &login->name, "password", password);
    login->name = request_form(req, "name", NULL);
    *password = request_form(req, "password", NULL);
    login->next = request_form(req, "next", NULL);
    return (login->name && *password) ||
           error_field(err, 422, "bad_request", login->name ? "password" : "name",
                       "a name and a password are required");
}

// What wrong passwords count against, as in login_place(). `device` is room for the browser's name.
static const char *place_of(Request *req, const char *name, char device[DEVICE_MAX]) {
    const char *known = device_of(req, device) ? device : NULL;
    return login_place(req->turn->db, name, known, req->address);
}

// After the right password: the account now knows the browser. If the browser has no name yet, the
// account knows the network, and a browser that sent a form gets a name in a cookie.
static bool know_place(Request *req, Response *res, int64_t user, const char *name, Error *err) {
    char device[DEVICE_MAX];
    if (place_of(req, name, device) == device)
        return login_succeeded(req->turn->db, user, device, req->turn->now, err);
    if (!login_succeeded(req->turn->db, user, req->address, req->turn->now, err))
        return false;
    if (request_is_api(req))
        return true;
    device_start(req, res, device);
    return login_succeeded(req->turn->db, user, device, req->turn->now, err);
}

static bool may_try(Request *req, Response *res, const char *name, Error *err) {
    double wait;
    char device[DEVICE_MAX];
    if (login_may_try(req->turn->db, name, place_of(req, name, device), req->turn->now, &wait, err))
        return true;
    response_header(res, "Retry-After", "%.0f", ceil(wait));
    return false;
}

static bool login_prepare(Request *req, Response *res, Error *err) {
    const char *password;
    LoginRequest *login = xcalloc(1, sizeof *login);
    req->state = login;
    req->state_free = free_login;
    res->form = "login";
    if (!read_login(req, login, &password, err) || !may_try(req, res, login->name, err))
        return false;
    login_compare(req->turn->db, login->name, password, &login->login);
    return true;
}

// The reply is an error, but the result is true, because false would undo the row that counts the
// failure.
static bool wrong_password(Request *req, const char *name, Error *err) {
    Error answer;
    char device[DEVICE_MAX];
    if (!login_failed(req->turn->db, name, place_of(req, name, device), req->turn->now, err))
        return false;
    error_field(&answer, 401, "wrong_password", "password", "the name or the password is wrong");
    request_refuse(req->data, &answer);
    return true;
}

// Starts a session. An earlier session of the browser ends.
static bool enter(Request *req, Response *res, int64_t user, NewSession *session, Error *err) {
    if (req->viewer.by_cookie && !session_end(req->turn, req->viewer.session_hash, err))
        return false;
    if (!session_start(req->turn, user, req->address, session, err))
        return false;
    session_cookie_set(req, res, session->secret, SESSION_SECONDS);
    return true;
}

static bool login_apply(Request *req, Response *res, Error *err) {
    const LoginRequest *request = req->state;
    const Login *login = &request->login;
    NewSession session;
    if (!may_try(req, res, request->name, err))
        return false;
    if (!login->matches)
        return wrong_password(req, request->name, err);
    if (!login_admit(req->turn, login, err) ||
        !know_place(req, res, login->user, request->name, err) ||
        !enter(req, res, login->user, &session, err))
        return false;
    return respond(req, res, 200,
                   json_pack("{s:o,s:s}", "user",
                             user_document(login->user, request->name, login->admin), "csrf",
                             session.csrf),
                   next_path(request->next, "/"));
}

static bool logout_apply(Request *req, Response *res, Error *err) {
    if (!session_end(req->turn, req->viewer.session_hash, err))
        return false;
    session_cookie_clear(req, res);
    return respond(req, res, 200, json_object(), "/");
}

// ---- signing up ---------------------------------------------------------------------------------

typedef struct Signup {
    NewUser user; // its texts are borrowed from the request
    char *hash;
} Signup;

static void free_signup(void *state) {
    free(((Signup *)state)->hash);
    free(state);
}

static bool read_signup(Request *req, NewUser *user, Error *err) {
    *user = (NewUser){.email = "", .address = req->address};
    if (request_is_api(req))
        return request_json(req, err, "{s:s,s:s,s?s}", "name", &user->name, "password",
                            &user->password, "email", &user->email);
    const char *email = request_form(req, "email", NULL);
    user->name = request_form(req, "name", NULL);
    user->password = request_form(req, "password", NULL);
    user->email = email ? email : "";
    return (user->name && user->password) ||
           error_field(err, 422, "bad_request", user->name ? "password" : "name",
                       "a name and a password are required");
}

static bool signup_prepare(Request *req, Response *res, Error *err) {
    Signup *signup = xcalloc(1, sizeof *signup);
    req->state = signup;
    req->state_free = free_signup;
    res->form = "signup";
    if (!read_signup(req, &signup->user, err) || !signup_check(req->turn, &signup->user, err))
        return false;
    signup->hash = password_hash(signup->user.password);
    return true;
}

static bool signup_apply(Request *req, Response *res, Error *err) {
    const Signup *signup = req->state;
    const NewUser *user = &signup->user;
    NewSession session = {0};
    bool active = !strcmp(user->state, "active");
    int64_t id = signup_store(req->turn, user, signup->hash, err);
    if (!id || !know_place(req, res, id, user->name, err) ||
        (active && !enter(req, res, id, &session, err)))
        return false;
    ledger_event(req->turn, "user", id, 0, 0, "%s made an account", user->name);
    return respond(req, res, 201,
                   json_pack("{s:o,s:s,s:s}", "user", user_document(id, user->name, false), "state",
                             user->state, "csrf", session.csrf),
                   active ? "/" : "/login?pending=1");
}

const Route routes_login[] = {
    {"POST", "/login", ACCESS_ANYONE, BODY_MAX, login_prepare, login_apply},
    {"POST", "/api/v1/login", ACCESS_ANYONE, BODY_MAX, login_prepare, login_apply},
    {"POST", "/logout", ACCESS_ANYONE, BODY_MAX, NULL, logout_apply},
    {"POST", "/api/v1/logout", ACCESS_ANYONE, BODY_MAX, NULL, logout_apply},
    {"POST", "/signup", ACCESS_ANYONE, BODY_MAX, signup_prepare, signup_apply},
    {"POST", "/api/v1/users", ACCESS_ANYONE, BODY_MAX, signup_prepare, signup_apply},
    {0},
};
