// See fields.h. What the fields say together is checked in fields_agree.c.
#include "server/submit/fields.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/one_line.h"
#include "server/common/option_text.h"
#include "server/common/str.h"
#include "server/common/time_control.h"
#include "server/common/utf8.h"
#include "server/ledger/workload.h"
#include "server/patch/patch.h"

const char *field_text(const json_t *fields, const char *name) {
    return member_text(fields, name);
}

int64_t field_whole(const json_t *fields, const char *name) {
    return member_int(fields, name);
}

double field_real(const json_t *fields, const char *name) {
    return member_real(fields, name);
}

// ---- reading

// {"Move Overhead": 10} as text; NULL if a value is none of text, number and boolean, or a name has
// a "=", which text cannot say.
static json_t *options_of_json(const json_t *object) {
    Str text scope(str_release);
    str_init(&text, 4096);
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)object, name, value) {
        char number[40];
        const char *shown = json_string_value(value);
        if (json_is_boolean(value))
            shown = json_is_true(value) ? "true" : "false";
        if (json_is_integer(value)) {
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
            shown = number;
        }
        if (!shown || strchr(name, '='))
            return NULL;
        option_text_add(&text, name, shown);
    }
    return json_string(text.data);
}

// The value as text; NULL if a field cannot have it.
static json_t *text_of_json(const json_t *value, bool options) {
    char number[40];
    if (json_is_string(value))
        return json_string(json_string_value(value));
    if (json_is_boolean(value))
        return json_string(json_is_true(value) ? "on" : "off");
    if (json_is_object(value) && options)
        return options_of_json(value);
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(number, sizeof number, "%.17g", json_real_value(value));
    else
        return NULL;
    return json_string(number);
}

bool submit_refuse_seed(Error *err) {
    return error_field(err, 422, "bad_field", "seed",
                       "seed: the server draws it at the first approval; leave the field out");
}

static bool add_json_field(json_t *fields, const char *name, const json_t *value, Error *err) {
    const FieldRule *rule = submit_rule(name);
    if (strcmp(name, "seed") == 0)
        return submit_refuse_seed(err);
    if (!rule)
        return error_field(err, 422, "bad_request", name, "%.60s: a test has no such field", name);
    if (json_is_null(value))
        return true;
    json_t *text = text_of_json(value, rule->kind == FIELD_OPTIONS);
    if (!text)
        return error_field(err, 422, "bad_field", name, "%s must be %s", name,
                           json_is_object(value) && rule->kind == FIELD_OPTIONS
                               ? "an object of options: its values are text, whole numbers or "
                                 "booleans, and its names have no '='"
                               : "text or a number");
    json_object_set_new(fields, name, text);
    return true;
}

json_t *submit_fields_of_json(const json_t *object, Error *err) {
    json_auto_t *fields = json_object();
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)object, name, value) {
        bool grouped = strcmp(name, "adjudication") == 0 && json_is_object(value);
        if (!grouped && !add_json_field(fields, name, value, err))
            return NULL;
        const char *inner;
        json_t *part;
        json_object_foreach (grouped ? value : NULL, inner, part) {
            if (!add_json_field(fields, inner, part, err))
                return NULL;
        }
    }
    return json_incref(fields);
}

bool submit_fields_add(json_t *fields, const char *name, const char *text, size_t size,
                       Error *err) {
    json_t *value = json_stringn(text, size);
    if (!value || memchr(text, 0, size)) {
        json_decref(value);
        return error_field(err, 422, "bad_field", name,
                           "%s is not text in UTF-8; upload a patch with other bytes as a file",
                           name);
    }
    json_object_set_new(fields, name, value);
    return true;
}

json_t *submit_fields_of_test(const json_t *settings) {
    json_auto_t *flat = json_object();
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++) {
        json_t *value = json_object_get(settings, rule->name);
        if (value)
            json_object_set(flat, rule->name, value);
    }
    json_object_update(flat, json_object_get(settings, "parameters"));
    json_object_update(flat, json_object_get(settings, "rules"));
    Error ignored;
    json_t *fields = submit_fields_of_json(flat, &ignored);
    json_object_set_new(fields, "adjudication", json_string("on"));
    json_object_set_new(fields, "resign", json_string("on"));
    json_object_set_new(fields, "draw", json_string("on"));
    return fields;
}

// ---- each by itself

static bool refuse(const FieldRule *rule, const char *text, const char *wanted, Error *err) {
    char *shown scope(free_ptr) = utf8_clean(text, strnlen(text, 60));
    return error_field(err, 422, "bad_field", rule->name, "%s: '%s' is %s", rule->name, shown,
                       wanted);
}

static bool check_size(const FieldRule *rule, const char *text, Error *err) {
    if (rule->kind == FIELD_LINE)
        return one_line_check(rule->name, text, 0, (size_t)rule->high, err);
    size_t size = strlen(text);
    if (size > (size_t)rule->high)
        return error_field(err, 422, "bad_field", rule->name,
                           "%s has %zu bytes, at most %.0f are kept; shorten it", rule->name, size,
                           rule->high);
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 32 && (rule->kind != FIELD_TEXT || !strchr("\n\r\t", *p)))
            return error_field(err, 422, "bad_field", rule->name,
                               "%s must be one line without control characters", rule->name);
    return true;
}

// The number in the text; new, NULL if it is none within the bounds.
static json_t *number_of(const FieldRule *rule, const char *text) {
    long whole;
    double real;
    if (rule->kind == FIELD_WHOLE)
        return parse_long(text, (long)rule->low, (long)rule->high, &whole) ? json_integer(whole)
                                                                           : NULL;
    return parse_double(text, rule->low, rule->high, &real) && isfinite(real) ? json_real(real)
                                                                              : NULL;
}

static bool take_number(json_t *fields, const FieldRule *rule, const char *text, Error *err) {
    char wanted[120];
    json_t *number = number_of(rule, text);
    if (number)
        return json_object_set_new(fields, rule->name, number) == 0;
    snprintf(wanted, sizeof wanted, "no %s from %.15g to %.15g",
             rule->kind == FIELD_WHOLE ? "whole number" : "number", rule->low, rule->high);
    return refuse(rule, text, wanted, err);
}

static bool check_choice(const FieldRule *rule, const char *text, Error *err) {
    char wanted[120];
    size_t n = strlen(text);
    for (const char *p = strchr(text, '|') ? NULL : rule->choices; p; p = strchr(p, '|')) {
        p += *p == '|';
        if (strncmp(p, text, n) == 0 && (!p[n] || p[n] == '|'))
            return true;
    }
    snprintf(wanted, sizeof wanted, "none of %s", rule->choices);
    return refuse(rule, text, wanted, err);
}

static bool check_workload(const FieldRule *rule, const char *text, Error *err) {
    Str wanted scope(str_release);
    str_init(&wanted, 400);
    if (workload_named(text))
        return true;
    str_puts(&wanted, "none of ");
    for (int i = 0; i < workload_count(); i++)
        str_printf(&wanted, "%s%s", i ? "|" : "", workload_at(i)->name);
    return refuse(rule, text, wanted.data, err);
}

static bool check_option(const FieldRule *rule, const char *name, Error *err) {
    static const char *const reserved[] = {"Threads", "UCI_Chess960", "Ponder"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcasecmp(name, reserved[i]) == 0)
            return refuse(rule, name, "set by the test itself; use its fields threads and variant",
                          err);
    return true;
}

static bool is_there(const char *options, const char *name) {
    OptionText at = {.rest = options};
    while (option_text_next(&at))
        if (strcasecmp(at.name, name) == 0)
            return true;
    return false;
}

// The options are kept in one form, so that two sides differ only if an option does.
static bool take_options(json_t *fields, const FieldRule *rule, const char *text, Error *err) {
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p > 126)
            return refuse(rule, text, "not plain ASCII, as UCI options are", err);
    Str kept scope(str_release);
    str_init(&kept, 4096);
    OptionText at = {.rest = text};
    while (option_text_next(&at)) {
        if (!check_option(rule, at.name, err))
            return false;
        if (is_there(kept.data, at.name))
            return refuse(rule, at.name, "there twice: each option once", err);
        option_text_add(&kept, at.name, at.value);
    }
    if (at.wrong)
        return refuse(rule, at.name, at.wrong, err);
    return json_object_set_new(fields, rule->name, json_string(kept.data)) == 0;
}

static bool take_field(json_t *fields, const FieldRule *rule, const char *text, Error *err) {
    TimeControl tc;
    switch (rule->kind) {
    case FIELD_LINE:
    case FIELD_TEXT:
        return strcmp(rule->name, "patch") == 0 || check_size(rule, text, err);
    case FIELD_WHOLE:
    case FIELD_DECIMAL:
        return take_number(fields, rule, text, err);
    case FIELD_CHOICE:
        return check_choice(rule, text, err);
    case FIELD_OPTIONS:
        return check_size(rule, text, err) && take_options(fields, rule, text, err);
    case FIELD_TC:
        return tc_parse(text, &tc, err);
    case FIELD_WORKLOAD:
        return check_workload(rule, text, err);
    }
    return false;
}

// Removes blanks around the text. In a patch they are part of it.
static void trim(json_t *fields, const char *name) {
    const char *text = field_text(fields, name);
    size_t size = strlen(text);
    while (size && isspace((unsigned char)text[size - 1]))
        size--;
    size_t skip = 0;
    while (skip < size && isspace((unsigned char)text[skip]))
        skip++;
    json_object_set_new(fields, name, json_stringn(text + skip, size - skip));
}

bool submit_field_check(json_t *fields, const FieldRule *rule, Error *err) {
    const char *workload = field_text(fields, "workload");
    // The form hides the parameters of other workloads, so a person could not correct them.
    if (workload_named(workload) && !submit_rule_fits(rule, workload))
        json_object_del(fields, rule->name);
    if (!json_is_string(json_object_get(fields, rule->name)))
        return true; // absent, or a number that was checked already
    if (strcmp(rule->name, "patch") != 0)
        trim(fields, rule->name);
    const char *text = field_text(fields, rule->name);
    if (*text || rule->kind == FIELD_OPTIONS) // no options are a choice, too
        return take_field(fields, rule, text, err);
    json_object_del(fields, rule->name);
    return true;
}

bool submit_fields_check(json_t *fields, Error *err) {
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++)
        if (!submit_field_check(fields, rule, err))
            return false;
    return true;
}
