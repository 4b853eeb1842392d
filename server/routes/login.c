// The routes for signing up, in and out. The slow part, scrypt, runs on a reader. The turn writes, and decides finally
// whether one more attempt is allowed.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/password.h"
#include "server/accounts/session.h"
#include "server/accounts/users.h"
#include "server/common/json_member.h"
#include "server/common/one_line.h"
#include "server/http/cookies.h"
#include "server/ledger/ledger.h"
#include "server/routes/respond.h"
#include "server/routes/users_handlers.h"

typedef struct Login {
    const char *name, *next; // borrowed from the request
    int64_t user;
    bool matches, admin;
    char state[16];
    char *old_hash, *new_hash; // where the password is to be hashed anew
} Login;

static void free_login(void *state) {
    free(((Login *)state)->old_hash);
    free(((Login *)state)->new_hash);
    free(state);
}

const char *next_path(const char *next, const char *fallback) {
    bool ours = next && next[0] == '/' && next[1] != '/' && next[1] != '\\';
    return ours ? next : fallback;
}

json_t *user_document(int64_t id, const char *name, bool admin) {
    return json_pack("{s:I,s:s,s:b}", "id", (json_int_t)id, "name", name, "admin", (int)admin);
}

static bool read_login(Request *req, Login *login, const char **password, Error *err) {
    if (request_is_api(req))
        return request_json(req, err, "{s:s,s:s}", "name", &login->name, "password", password);
    login->name = request_form(req, "name", NULL);
    *password = request_form(req, "password", NULL);
    login->next = request_form(req, "next", NULL);
    return (login->name && *password) ||
           error_field(err, 422, "bad_request", login->name ? "password" : "name",
                       "name and password are needed");
}

static void compare(Request *req, Login *login, const char *password) {
    json_auto_t *user = db_row(req->turn->db, SQL_USER_BY_NAME, "s", login->name);
    if (!user) {
        password_match_nobody(password);
        return;
    }
    login->user = member_int(user, "id");
    login->admin = member_int(user, "admin") == 1;
    snprintf(login->state, sizeof login->state, "%s",
             json_string_value(json_object_get(user, "state")));
    const char *stored = json_string_value(json_object_get(user, "password"));
    login->matches = password_matches(stored, password);
    if (login->matches && password_is_weak(stored)) {
        login->old_hash = xstrdup(stored);
        login->new_hash = password_hash(password);
    }
}

// What wrong passwords count against: a browser that signed in to the account before, because only its owner types
// there; else the network.
static const char *place_of(Request *req, const char *name, char device[DEVICE_MAX]) {
    int64_t user = db_int(req->turn->db, SQL_USER_BY_NAME, 0, "s", name);
    bool known =
        device_of(req, device) && db_int(req->turn->db, SQL_KNOWN_NETWORK, 0, "is", user, device);
    return known ? device : req->address;
}

// The password was right: from now on the browser is known, or the network and, of a form, a
// browser that gets a cookie.
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

bool login_prepare(Request *req, Response *res, Error *err) {
    const char *password;
    Login *login = xcalloc(1, sizeof *login);
    req->state = login;
    req->state_free = free_login;
    res->form = "login";
    if (!read_login(req, login, &password, err) || !may_try(req, res, login->name, err))
        return false;
    if (strlen(password) <= PASSWORD_MAX)
        compare(req, login, password);
    return true;
}

// Answers with an error but returns true: returning false would undo the row that counts the failure.
static bool wrong_password(Request *req, const char *name, Error *err) {
    Error answer;
    char device[DEVICE_MAX];
    if (!login_failed(req->turn->db, name, place_of(req, name, device), req->turn->now, err))
        return false;
    error_field(&answer, 401, "wrong_password", "password", "name or password is wrong");
    request_refuse(req->data, &answer);
    return true;
}

static bool check_state(const char *state, Error *err) {
    if (!strcmp(state, "pending"))
        return error_set(err, 403, "pending", "the account waits for an admin's approval");
    return strcmp(state, "blocked") != 0 ||
           error_set(err, 403, "blocked", "the account is blocked");
}

// The session that the visitor had, if any, ends with the new one.
static bool enter(Request *req, Response *res, int64_t user, NewSession *session, Error *err) {
    if (req->viewer.by_cookie && !session_end(req->turn, req->viewer.session_hash, err))
        return false;
    if (!session_start(req->turn, user, req->address, session, err))
        return false;
    session_cookie_set(req, res, session->secret, SESSION_SECONDS);
    return true;
}

static bool rehash(Request *req, const Login *login, Error *err) {
    return !login->new_hash || db_run(req->turn->db, err, SQL_USER_REHASH, "iss", login->user,
                                      login->old_hash, login->new_hash);
}

bool login_apply(Request *req, Response *res, Error *err) {
    const Login *login = req->state;
    NewSession session;
    if (!may_try(req, res, login->name, err))
        return false;
    if (!login->matches)
        return wrong_password(req, login->name, err);
    if (!check_state(login->state, err) || !rehash(req, login, err) ||
        !know_place(req, res, login->user, login->name, err) ||
        !enter(req, res, login->user, &session, err))
        return false;
    return respond(req, res, 200,
                   json_pack("{s:o,s:s}", "user",
                             user_document(login->user, login->name, login->admin), "csrf",
                             session.csrf),
                   next_path(login->next, "/"));
}

bool logout_apply(Request *req, Response *res, Error *err) {
    if (!session_end(req->turn, req->viewer.session_hash, err))
        return false;
    session_cookie_clear(req, res);
    return respond(req, res, 200, json_object(), "/");
}

// ---- signing up ---------------------------------------------------------------------------------

typedef struct Signup {
    const char *name, *email; // borrowed from the request
    const char *state;
    char *hash;
} Signup;

static void free_signup(void *state) {
    free(((Signup *)state)->hash);
    free(state);
}

static bool read_signup(Request *req, Signup *signup, const char **password, Error *err) {
    signup->email = "";
    if (request_is_api(req))
        return request_json(req, err, "{s:s,s:s,s?s}", "name", &signup->name, "password", password,
                            "email", &signup->email);
    signup->name = request_form(req, "name", NULL);
    *password = request_form(req, "password", NULL);
    const char *email = request_form(req, "email", NULL);
    signup->email = email ? email : "";
    return (signup->name && *password) ||
           error_field(err, 422, "bad_request", signup->name ? "password" : "name",
                       "name and password are needed");
}

static bool signup_allowed(Request *req, Signup *signup, Error *err) {
    const char *policy = request_setting(req, "signup", "open");
    if (!strcmp(policy, "closed"))
        return error_set(err, 403, "signup_closed", "this server makes no accounts by itself");
    signup->state = strcmp(policy, "open") ? "pending" : "active";
    return signup_may_try(req->turn->db, req->address, req->turn->now, err);
}

bool signup_prepare(Request *req, Response *res, Error *err) {
    const char *password;
    Signup *signup = xcalloc(1, sizeof *signup);
    req->state = signup;
    req->state_free = free_signup;
    res->form = "signup";
    if (!read_signup(req, signup, &password, err) || !signup_allowed(req, signup, err) ||
        !user_name_check(signup->name, err) || !password_check(password, err))
        return false;
    if (!one_line_check("email", signup->email, 0, 254, err))
        return false;
    if (db_int(req->turn->db, SQL_USER_BY_NAME, 0, "s", signup->name))
        return error_field(err, 409, "name_taken", "name", "the name %s is taken", signup->name);
    signup->hash = password_hash(password);
    return true;
}

static bool signup_answer(Request *req, Response *res, const Signup *signup, int64_t id,
                          const char *csrf) {
    bool active = !strcmp(signup->state, "active");
    return respond(req, res, 201,
                   json_pack("{s:o,s:s,s:s}", "user", user_document(id, signup->name, false),
                             "state", signup->state, "csrf", csrf),
                   active ? "/" : "/login?pending=1");
}

bool signup_apply(Request *req, Response *res, Error *err) {
    const Signup *signup = req->state;
    NewSession session = {0};
    if (!signup_may_try(req->turn->db, req->address, req->turn->now, err) ||
        !signup_note(req->turn->db, req->address, req->turn->now, err))
        return false;
    int64_t id = user_create(req->turn->db, signup->name, signup->email, signup->hash,
                             signup->state, false, req->turn->now, err);
    if (!id || !know_place(req, res, id, signup->name, err) ||
        (!strcmp(signup->state, "active") && !enter(req, res, id, &session, err)))
        return false;
    ledger_event(req->turn, "user", id, 0, 0, "%s made an account", signup->name);
    return signup_answer(req, res, signup, id, session.csrf);
}
