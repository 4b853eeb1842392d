// See outside.h.
#include "server/ledger/outside.h"

#include <string.h>

#include "server/common/str.h"
#include "server/db/settings.h"
#include "server/ledger/event.h"
#include "sql/core.h"

bool outside_is_reached(Db *db) {
    SqlTrust trust scope(sql_row_free) = {0};
    return sql_trust(db, &trust) && trust.reason;
}

bool outside_reach(Turn *turn, const char *reason, Error *err) {
    if (!sql_reached_add(turn->db, err, .now = turn->now, .reason = reason))
        return false;
    if (db_changes(turn->db))
        ledger_event(turn, "reached", 0, 0, 0, "reached from outside for the first time: %s",
                     reason);
    return true;
}

// "" where an operator knows the people who have accounts.
static const char *sign_up_words(Db *db) {
    return setting_is(db, SETTING_SIGNUP, "open")
               ? " Sign-up is open, so an account alone says nothing about its owner."
               : "";
}

// ---- machines -----------------------------------------------------------------------------------

bool outside_may_claim(Db *db, int64_t machine, Error *err) {
    SqlTrust trust scope(sql_row_free) = {0};
    SqlPersonOfMachine person scope(sql_row_free) = {0};
    if (!sql_trust(db, &trust))
        return error_set(err, 503, "unavailable", "the database does not answer");
    if (strcmp(trust.mode, "roles") != 0 ||
        (sql_person_of_machine(db, &person, machine) && person.has_role))
        return true;
    char *who scope(free_ptr) =
        person.name ? xasprintf("the account %s of this machine has none", person.name)
                    : xstrdup("this machine has no account (--token-file)");
    return error_set(err, 403, "role_required",
                     "only machines of people with a role get tasks here, and %s; ask the operator "
                     "for a role. Strangers can reach this server, and its operator has not chosen "
                     "whom to trust: `server set DATA trust public` gives tasks to all, `trust "
                     "private` also vouches for all.%s",
                     who, sign_up_words(db));
}

// ---- in words -----------------------------------------------------------------------------------

static char *words_of(Db *db, const SqlTrust *trust) {
    const char *by = trust->set ? "because the setting trust says so"
                                : "because trust is not set and no request came from outside yet";
    if (!strcmp(trust->mode, "roles"))
        return xasprintf("Only machines of people with a role get tasks, because this server was "
                         "reached from outside (%s) and trust is not set.%s",
                         trust->reason, sign_up_words(db));
    if (!strcmp(trust->mode, "public"))
        return xasprintf("Every machine may play, %s. Owners for whom no maintainer vouches play a "
                         "share of what the others have played of a test.",
                         by);
    if (trust->reason)
        return xasprintf("Every machine that registers is vouched for, %s. This server was reached "
                         "from outside (%s), so machines of strangers may be among them.",
                         by, trust->reason);
    return xasprintf("Every machine that registers is vouched for, %s.%s", by,
                     trust->set ? ""
                                : " After the first one, only machines of people with a role will "
                                  "get tasks.");
}

static json_t *choice(const char *command, const char *effect) {
    return json_pack("{s:s, s:s}", "command", command, "effect", effect);
}

// What the operator can do; nothing where the setting has decided.
static json_t *choices_of(const SqlTrust *trust) {
    if (trust->set)
        return json_array();
    json_t *choices =
        json_pack("[o, o]",
                  choice("server set DATA trust public",
                         "strangers play a share of each test, and a maintainer vouches for the "
                         "owners who play the rest"),
                  choice("server set DATA trust private",
                         "every machine that registers is vouched for, as one of your own"));
    if (!strcmp(trust->mode, "roles"))
        json_array_insert_new(choices, 0,
                              choice("server user role DATA NAME ENGINE developer",
                                     "the machines of this person get tasks"));
    return choices;
}

json_t *outside_document(Db *db) {
    SqlTrust trust scope(sql_row_free) = {0};
    if (!sql_trust(db, &trust))
        return NULL;
    char *words scope(free_ptr) = words_of(db, &trust);
    return json_pack("{s:s, s:b, s:b, s:o, s:s, s:o}", "mode", trust.mode, "only_roles",
                     strcmp(trust.mode, "roles") == 0, "set", trust.set, "reached",
                     trust.reason
                         ? json_pack("{s:f, s:s}", "created", trust.at, "reason", trust.reason)
                         : json_null(),
                     "words", words, "choices", choices_of(&trust));
}
