// See modify.h.
#include "server/submit/modify.h"

#include <string.h>

#include "server/common/str.h"
#include "server/common/visible.h"
#include "server/ledger/approval.h"
#include "server/ledger/ledger.h"
#include "server/submit/fields.h"
#include "server/submit/known_options.h"
#include "server/submit/rights.h"
#include "server/submit/submit.h"
#include "server/submit/test_columns.h"
#include "sql/ledger.h"
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

// What a request changes, once it is known.
typedef struct Change {
    json_t *fields; // all of the test, with the new values
    Str names;      // of the fields that differ
    Str values;     // the same, with the old value and the new one of each
    FieldChange gravest;
    bool widens; // what the approval covers: what runs, for how long, or before whom
    char before[SHA256_HEX_MAX]; // the hash of what an approval would have covered
} Change;

static void change_release(Change *change) {
    json_decref(change->fields);
    str_release(&change->names);
    str_release(&change->values);
}

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
    if (rule->change >= CHANGE_EARLY && row->has_batches)
        return error_field(err, 409, "has_results", rule->name,
                           "%s cannot be changed: games were played with the old setting; stop "
                           "this test and submit a new one",
                           rule->name);
    if (rule->change == CHANGE_UNDEALT && row->next_pair > 0)
        return error_field(
            err, 409, "has_tasks", rule->name,
            "%s cannot be changed: openings were dealt to workers; submit a new test", rule->name);
    return true;
}

// An approval covers how much of the machines' time a test may take, too.
static bool widens(const FieldRule *rule, const SqlTestForChange *row, const json_t *fields) {
    if (strcmp(rule->name, "pairs_max") == 0)
        return field_whole(fields, rule->name) > row->pairs_max;
    if (strcmp(rule->name, "priority") == 0)
        return field_whole(fields, rule->name) > (row->priority > 0 ? row->priority : 0);
    return rule->change >= CHANGE_EARLY;
}

static void add_value(Str *out, const json_t *fields, const char *name) {
    enum { VALUE_SHOWN = 200 };
    char shown[VALUE_SHOWN];
    const json_t *value = json_object_get(fields, name);
    char *text scope(free_ptr) = json_is_string(value) || !value
                                     ? xstrdup(field_text(fields, name))
                                     : json_dumps(value, JSON_ENCODE_ANY);
    visible_copy(shown, sizeof shown, text, strlen(text), false);
    str_printf(out, "%s%s", *text ? shown : "nothing", strlen(text) < VALUE_SHOWN ? "" : "…");
}

static void note_value(Change *change, const FieldRule *rule, const json_t *old) {
    const char *comma = change->names.size ? ", " : "";
    str_printf(&change->names, "%s%s", comma, rule->name);
    str_printf(&change->values, "%s%s from ", comma, rule->name);
    add_value(&change->values, old, rule->name);
    str_puts(&change->values, " to ");
    add_value(&change->values, change->fields, rule->name);
}

static bool take_changes(const Caller *caller, const SqlTestForChange *row, const json_t *old,
                         const json_t *wanted, Change *change, Error *err) {
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++) {
        if (!json_object_get(wanted, rule->name) || is_same(rule, old, wanted) ||
            !submit_rule_fits(rule, field_text(old, "workload")))
            continue;
        if (!allow_change(caller, rule, row, err))
            return false;
        json_object_set(change->fields, rule->name, json_object_get(wanted, rule->name));
        note_value(change, rule, old);
        change->widens |= widens(rule, row, change->fields);
        if (rule->change > change->gravest)
            change->gravest = rule->change;
    }
    int64_t counted = row->units_counted, pairs = field_whole(change->fields, "pairs_max");
    if (pairs < row->pairs_max && pairs <= counted)
        return error_field(err, 422, "bad_field", "pairs_max",
                           "pairs_max: %lld pairs are counted already; stop the test instead",
                           (long long)counted);
    return submit_fields_agree(change->fields, err);
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

// A test that was approved stays so if the change asks for no more than was approved, or if the
// person could have approved it as it is now.
static bool note_changes(const Caller *caller, const SqlTestForChange *row, const Change *change,
                         Error *err) {
    int64_t test = row->id, user = caller->viewer->user_id;
    bool approved = strcmp(row->state, "active") == 0 || strcmp(row->state, "paused") == 0;
    char hash[SHA256_HEX_MAX];
    Error refusal;
    if (approved && change->widens && !right_approves(caller, row, &refusal))
        return ledger_test_withdraw(caller->turn, test, user, change->values.data, err) &&
               approval_pause_others(caller->turn, row->engine_id, err);
    if (approved && !test_approval_hash(caller->turn->db, test, hash))
        return error_set(err, 500, "internal", "the test's commits are not all there");
    if (approved && change->widens)
        return ledger_test_widen(caller->turn, test, user, hash, change->gravest >= CHANGE_EARLY,
                                 change->values.data, err);
    if (approved && !sql_ledger_test_approved_as(caller->turn->db, err, .test = test, .hash = hash,
                                                 .before = change->before))
        return false;
    ledger_event(caller->turn, "modified", user, 0, test, "changed: %s", change->names.data);
    turn_publish(caller->turn, "test",
                 json_pack("{s:I, s:s}", "id", (json_int_t)test, "state", row->state));
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
    Change change scope(change_release) = {.gravest = CHANGE_FREELY};
    if (!right_to(ACTION_DESCRIBE, caller, test, &row, err) || !submit_fields_check(wanted, err))
        return false;
    json_auto_t *old = present_fields(caller->turn->db, test, err);
    if (!old)
        return false;
    translate_games(wanted, old);
    change.fields = json_copy(old);
    str_init(&change.names, 1000);
    str_init(&change.values, 8192);
    if (!take_changes(caller, &row, old, wanted, &change, err))
        return false;
    if (!change.names.size)
        return true;
    if (change.gravest >= CHANGE_EARLY &&
        !known_options_check(caller->turn->db, row.engine_id, row.new_commit, row.base_commit,
                             change.fields, err))
        return false;
    if (!test_approval_hash(caller->turn->db, test, change.before))
        return error_set(err, 500, "internal", "the test's commits are not all there");
    return write_changes(caller, &row, change.fields, err) &&
           note_changes(caller, &row, &change, err);
}
