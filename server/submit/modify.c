// See modify.h.
#include "server/submit/modify.h"

#include <string.h>

#include "server/common/str.h"
#include "server/ledger/approval.h"
#include "server/ledger/ledger.h"
#include "server/submit/fields.h"
#include "server/submit/known_options.h"
#include "server/submit/rights.h"
#include "server/submit/submit.h"
#include "server/submit/test_columns.h"
#include "sql/tests.h"

static bool is_same(const FieldRule *rule, const json_t *a, const json_t *b) {
    return json_equal(json_object_get(a, rule->name), json_object_get(b, rule->name));
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

static bool is_words(const FieldRule *rule) {
    return strcmp(rule->name, "title") == 0 || strcmp(rule->name, "description") == 0;
}

static bool allow_change(const Caller *caller, const FieldRule *rule, const SqlTestForChange *row,
                         Error *err) {
    Action action = is_words(rule) ? ACTION_DESCRIBE : ACTION_MODIFY;
    if (rule->change == CHANGE_NEVER)
        return error_field(err, 422, "bad_field", rule->name,
                           "%s cannot be changed; submit a new test", rule->name);
    if (!right_check(action, caller, row, err)) {
        snprintf(err->field, sizeof err->field, "%s", rule->name);
        return error_prefix(err, "%s cannot be changed", rule->name);
    }
    if (rule->change >= CHANGE_EARLY && row->units_counted > 0)
        return error_field(err, 409, "has_results", rule->name,
                           "%s cannot be changed: games were counted with the old setting; stop "
                           "this test and submit a new one",
                           rule->name);
    if (rule->change == CHANGE_UNDEALT && row->next_pair > 0)
        return error_field(
            err, 409, "has_tasks", rule->name,
            "%s cannot be changed: openings were dealt to workers; submit a new test", rule->name);
    return true;
}

// Puts what differs into `fields` and its names into `names`; *change: the gravest.
static bool take_changes(const Caller *caller, const SqlTestForChange *row, json_t *fields,
                         const json_t *wanted, Str *names, FieldChange *change, Error *err) {
    *change = CHANGE_FREELY;
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++) {
        if (!json_object_get(wanted, rule->name) || is_same(rule, fields, wanted) ||
            !submit_rule_fits(rule, field_text(fields, "workload")))
            continue;
        if (!allow_change(caller, rule, row, err))
            return false;
        json_object_set(fields, rule->name, json_object_get(wanted, rule->name));
        str_printf(names, "%s%s", names->size ? ", " : "", rule->name);
        if (rule->change > *change)
            *change = rule->change;
    }
    int64_t counted = row->units_counted;
    bool fewer = field_whole(fields, "pairs_max") < row->pairs_max;
    if (fewer && field_whole(fields, "pairs_max") <= counted)
        return error_field(err, 422, "bad_field", "pairs_max",
                           "pairs_max: %lld pairs are counted already; stop the test instead",
                           (long long)counted);
    return submit_fields_agree(fields, err);
}

// An approval covers how much of the machines' time a test may take, too.
static bool may_raise(const Caller *caller, const SqlTestForChange *row, const json_t *fields,
                      Error *err) {
    const struct {
        const char *name;
        int64_t now;
    } values[] = {{"priority", row->priority}, {"pairs_max", row->pairs_max}};
    if (strcmp(row->state, "pending") == 0 ||
        viewer_has_role(caller->turn->db, caller->viewer, row->engine_id, "maintainer"))
        return true;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (field_whole(fields, values[i].name) > values[i].now)
            return error_field(err, 403, "forbidden", values[i].name,
                               "%s: after approval only a maintainer of %s raises it, from %lld; "
                               "you may lower it",
                               values[i].name, row->engine, (long long)values[i].now);
    return true;
}

static bool write_side(Db *db, int64_t test, const char *side, const char *options,
                       const json_t *fields, Error *err) {
    return sql_side_modify(db, err, .test = test, .side = side, .options = options,
                           .tc = field_text(fields, "tc"),
                           .threads = field_whole(fields, "threads"));
}

static bool write_changes(const Caller *caller, const SqlTestForChange *row, const json_t *fields,
                          Error *err) {
    const char *name = field_text(fields, "book");
    Db *db = caller->turn->db;
    SqlBookByName book;
    if (!sql_book_by_name(db, &book, .engine = row->engine_id, .name = name))
        return error_field(err, 422, "no_such_book", "book", "book: the engine has no book '%.60s'",
                           name);
    if (!submit_book_suits(book.chess960, book.openings, fields, err))
        return false;
    TestOrigin origin = {.engine = row->engine_id, .author = row->author_id, .book = book.id};
    return test_write(caller->turn, row->id, origin, fields, err) &&
           write_side(db, row->id, "new", field_text(fields, "new_options"), fields, err) &&
           write_side(db, row->id, "base", field_text(fields, "base_options"), fields, err);
}

// Writes the change to the log and the event stream. If the approval no longer holds, the test's
// tasks end.
static bool note_changes(const Caller *caller, const SqlTestForChange *row, const char *names,
                         FieldChange change, Error *err) {
    int64_t test = row->id;
    const char *state = row->state;
    bool approved = strcmp(state, "active") == 0 || strcmp(state, "paused") == 0;
    if (approved && change >= CHANGE_EARLY)
        return ledger_test_withdraw(caller->turn, test, caller->viewer->user_id, names, err) &&
               approval_pause_others(caller->turn, row->engine_id, err);
    ledger_event(caller->turn, "modified", caller->viewer->user_id, 0, test, "changed: %s", names);
    turn_publish(caller->turn, "test",
                 json_pack("{s:I, s:s}", "id", (json_int_t)test, "state", state));
    turn_wake(caller->turn); // a new priority deals other work
    return true;
}

// The test's fields as they are now, checked as those that were submitted.
static json_t *present_fields(Db *db, int64_t test, Error *err) {
    json_auto_t *settings = sql_test_settings(db, test);
    json_auto_t *fields = submit_fields_of_test(settings);
    return submit_fields_check(fields, err) ? json_incref(fields) : NULL;
}

bool submit_modify(const Caller *caller, int64_t test, json_t *wanted_fields, Error *err) {
    json_auto_t *wanted = wanted_fields;
    SqlTestForChange row scope(sql_row_free) = {0};
    if (!right_to(ACTION_DESCRIBE, caller, test, &row, err) || !submit_fields_check(wanted, err))
        return false;
    json_auto_t *fields = present_fields(caller->turn->db, test, err);
    if (!fields)
        return false;
    translate_games(wanted, fields);
    Str names scope(str_release);
    str_init(&names, 1000);
    FieldChange change;
    if (!take_changes(caller, &row, fields, wanted, &names, &change, err))
        return false;
    if (!names.size)
        return true;
    if (change >= CHANGE_EARLY &&
        !known_options_check(caller->turn->db, row.engine_id, row.new_commit, row.base_commit,
                             fields, err))
        return false;
    return may_raise(caller, &row, fields, err) && write_changes(caller, &row, fields, err) &&
           note_changes(caller, &row, names.data, change, err);
}
