// See signup.h.
#include "server/accounts/signup.h"

#include "server/accounts/password.h"
#include "server/accounts/users.h"
#include "server/common/one_line.h"
#include "server/db/settings.h"
#include "sql/users.h"

bool signup_check(const Turn *turn, NewUser *user, Error *err) {
    if (setting_is(turn->db, SETTING_SIGNUP, "closed"))
        return error_set(err, 403, "signup_closed", "this server makes no accounts by itself");
    user->state = setting_is(turn->db, SETTING_SIGNUP, "open") ? "active" : "pending";
    if (!signup_may_try(turn->db, user->address, turn->now, err) ||
        !user_name_check(user->name, err) || !password_check(user->password, err) ||
        !one_line_check("email", user->email, 0, 254, err))
        return false;
    return !sql_user_of_name(turn->db, 0, user->name) ||
           error_field(err, 409, "name_taken", "name", "the name %s is taken", user->name);
}

int64_t signup_store(const Turn *turn, const NewUser *user, const char *hash, Error *err) {
    if (!signup_may_try(turn->db, user->address, turn->now, err) ||
        !signup_note(turn->db, user->address, turn->now, err))
        return 0;
    return user_create(turn->db, user->name, user->email, hash, user->state, false, turn->now, err);
}
