// Changes to a test that is there already. A change of what volunteers' machines will run takes
// approval back; one that would mix results of different settings is refused.
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/ledger.h"
#include "server/submit/submit.h"

json_t *submit_test_for(Request *req, int64_t test, bool author_too, Error *err) {
    json_auto_t *row = db_row(req->turn->db, SQL_TEST_FOR_CHANGE, "i", test);
    if (!row)
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test), NULL;
    int64_t author = member_int(row, "author_id");
    int64_t engine = member_int(row, "engine_id");
    if ((author_too && author == req->viewer.user_id) ||
        viewer_has_role(req->turn->db, &req->viewer, engine, "maintainer"))
        return json_incref(row);
    return error_set(err, 403, "forbidden", "this needs the role maintainer of %s%s",
                     json_string_value(json_object_get(row, "engine")),
                     author_too ? ", or to be the test's author" : ""),
           NULL;
}

// ---- fields of a test

json_t *submit_fields_of_test(const json_t *row) {
    json_auto_t *flat = json_object();
    for (const FieldRule *rule = submit_rules; rule->name; rule++) {
        json_t *value = json_object_get(row, rule->name);
        if (value)
            json_object_set(flat, rule->name, value);
    }
    json_object_update(flat, json_object_get(row, "adjudication"));
    Error ignored;
    json_t *fields = submit_fields_of_json(flat, &ignored);
    json_object_set_new(fields, "adjudication", json_string("on"));
    json_object_set_new(fields, "resign", json_string("on"));
    json_object_set_new(fields, "draw", json_string("on"));
    return fields;
}

static bool is_same(const FieldRule *rule, const json_t *a, const json_t *b) {
    if (rule->kind == FIELD_DECIMAL)
        return field_real(a, rule->name) == field_real(b, rule->name);
    return strcmp(field_text(a, rule->name), field_text(b, rule->name)) == 0;
}

// "games" is another word for pairs_max, and another batch may round it anew.
static void translate_games(json_t *wanted, const json_t *old) {
    bool pairs = json_object_get(wanted, "pairs_max"), games = json_object_get(wanted, "games");
    bool batch = json_object_get(wanted, "batch_pairs");
    if (pairs || games || batch)
        submit_set_pairs(wanted,
                         pairs   ? field_whole(wanted, "pairs_max")
                         : games ? (field_whole(wanted, "games") + 1) / 2
                                 : field_whole(old, "pairs_max"),
                         field_whole(batch ? wanted : old, "batch_pairs"));
    json_object_del(wanted, "games");
}

// ---- what a change means

static bool allow_change(const FieldRule *rule, const json_t *row, Error *err) {
    const char *state = json_string_value(json_object_get(row, "state"));
    bool finished = strcmp(state, "finished") == 0;
    bool words = strcmp(rule->name, "title") == 0 || strcmp(rule->name, "description") == 0;
    if (rule->change == CHANGE_NEVER)
        return error_field(err, 422, "bad_field", rule->name,
                           "%s cannot be changed; submit a new test", rule->name);
    if (finished && !words)
        return error_field(err, 409, "wrong_state", rule->name,
                           "%s cannot be changed: the test is finished", rule->name);
    if (rule->change >= CHANGE_EARLY && member_int(row, "games") > 0)
        return error_field(err, 409, "has_results", rule->name,
                           "%s cannot be changed: games were counted with the old setting; stop "
                           "this test and submit a new one",
                           rule->name);
    if (rule->change == CHANGE_UNDEALT && member_int(row, "next_pair") > 0)
        return error_field(
            err, 409, "has_tasks", rule->name,
            "%s cannot be changed: openings were dealt to workers; submit a new test", rule->name);
    return true;
}

// Puts what differs into `fields` and its names into `names`; *change: the gravest.
static bool take_changes(const json_t *row, json_t *fields, const json_t *wanted, Str *names,
                         FieldChange *change, Error *err) {
    *change = CHANGE_FREELY;
    for (const FieldRule *rule = submit_rules; rule->name; rule++) {
        if (!json_object_get(wanted, rule->name) || is_same(rule, fields, wanted))
            continue;
        if (!allow_change(rule, row, err))
            return false;
        json_object_set(fields, rule->name, json_object_get(wanted, rule->name));
        str_printf(names, "%s%s", names->size ? ", " : "", rule->name);
        if (rule->change > *change)
            *change = rule->change;
    }
    int64_t counted = member_int(row, "games") / 2;
    bool fewer = field_whole(fields, "pairs_max") < member_int(row, "pairs_max");
    if (fewer && field_whole(fields, "pairs_max") <= counted)
        return error_field(err, 422, "bad_field", "pairs_max",
                           "pairs_max: %lld pairs are counted already; stop the test instead",
                           (long long)counted);
    return submit_fields_agree(fields, err);
}

// An approval covers how much of the machines' time a test may take, too.
static bool may_raise(Request *req, const json_t *row, const json_t *fields, Error *err) {
    static const char *const names[] = {"priority", "pairs_max"};
    if (strcmp(member_text(row, "state"), "pending") == 0 ||
        viewer_has_role(req->turn->db, &req->viewer, member_int(row, "engine_id"), "maintainer"))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (field_whole(fields, names[i]) > member_int(row, names[i]))
            return error_field(err, 403, "forbidden", names[i],
                               "%s: after approval only a maintainer of %s raises it, from %lld; "
                               "you may lower it",
                               names[i], member_text(row, "engine"),
                               (long long)member_int(row, names[i]));
    return true;
}

static bool write_changes(Request *req, const json_t *row, const json_t *f, Error *err) {
    json_auto_t *adjudication = field_adjudication(f);
    char *rules scope(free_ptr) = json_dumps(adjudication, JSON_COMPACT | JSON_SORT_KEYS);
    json_auto_t *book = db_row(req->turn->db, SQL_BOOK_BY_NAME, "is", member_int(row, "engine_id"),
                               field_text(f, "book"));
    if (!book)
        return error_field(err, 422, "no_such_book", "book", "book: the engine has no book '%.60s'",
                           field_text(f, "book"));
    if (!submit_book_suits(book, f, err))
        return false;
    return db_run(req->turn->db, err, SQL_TEST_MODIFY, "isssssddddsiiissiii", member_int(row, "id"),
                  field_text(f, "title"), field_text(f, "description"),
                  field_text(f, "base_options"), field_text(f, "new_options"),
                  field_text(f, "model"), field_real(f, "elo0"), field_real(f, "elo1"),
                  field_real(f, "alpha"), field_real(f, "beta"), field_text(f, "tc"),
                  field_whole(f, "threads"), member_int(book, "id"), field_whole(f, "seed"),
                  field_text(f, "variant"), rules, field_whole(f, "batch_pairs"),
                  field_whole(f, "pairs_max"), field_whole(f, "priority"));
}

// Tells the log and those who look on; ends what runs under an approval that no longer holds.
static bool note_changes(Request *req, const json_t *row, const char *names, FieldChange change,
                         Error *err) {
    int64_t test = member_int(row, "id");
    const char *state = json_string_value(json_object_get(row, "state"));
    bool approved = strcmp(state, "active") == 0 || strcmp(state, "paused") == 0;
    if (approved && change >= CHANGE_EARLY)
        return ledger_test_withdraw(req->turn, test, req->viewer.user_id, names, err) &&
               approval_pause_others(req->turn, member_int(row, "engine_id"), err);
    ledger_event(req->turn, "modified", req->viewer.user_id, 0, test, "changed: %s", names);
    turn_publish(req->turn, "test",
                 json_pack("{s:I, s:s}", "id", (json_int_t)test, "state", state));
    turn_wake(req->turn); // a new priority deals other work
    return true;
}

bool submit_modify(Request *req, int64_t test, Error *err) {
    json_auto_t *row = submit_test_for(req, test, true, err);
    json_auto_t *wanted = row ? submit_fields_read(req, err) : NULL;
    if (!wanted || !submit_fields_check(wanted, err))
        return false;
    json_auto_t *fields = submit_fields_of_test(row);
    translate_games(wanted, fields);
    Str names scope(str_release);
    str_init(&names, 1000);
    FieldChange change;
    if (!take_changes(row, fields, wanted, &names, &change, err))
        return false;
    if (!names.size)
        return true;
    return may_raise(req, row, fields, err) && write_changes(req, row, fields, err) &&
           note_changes(req, row, names.data, change, err);
}
