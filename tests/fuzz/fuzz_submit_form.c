// Any bytes as the fields of a test, as JSON and as a form: checked or refused; what is accepted
// keeps its promises.
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "server/http/form.h"
#include "server/submit/fields.h"
#include "server/submit/test_columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(json_t *fields) {
    Error err;
    if (!submit_fields_check(fields, &err))
        return;
    submit_fields_complete(fields);
    if (!submit_fields_agree(fields, &err))
        return;
    json_auto_t *rules = field_adjudication(fields);
    assert(rules);
    const char *workload = field_text(fields, "workload");
    if (strcmp(workload, "sprt") == 0)
        assert(field_real(fields, "elo1") > field_real(fields, "elo0"));
    else
        assert(!json_object_get(fields, "elo0")); // it is a parameter of another workload
    assert((strcmp(workload, "width") == 0) == (field_real(fields, "error") > 0));
    char *parameters scope(free_ptr) = test_parameters_text(fields);
    assert(parameters && *parameters == '{');
    assert(field_whole(fields, "pairs_max") % field_whole(fields, "batch_pairs") == 0);
    assert(field_whole(fields, "threads") >= 1);
}

static void as_json(const char *text, size_t size) {
    Error err;
    json_auto_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    json_auto_t *fields = json_is_object(object) ? submit_fields_of_json(object, &err) : NULL;
    if (fields)
        check(fields);
}

static void as_form(const char *text, size_t size) {
    Error err;
    Params pairs = {0};
    json_auto_t *fields = json_object();
    if (form_urlencoded(text, size, &pairs, &err)) {
        for (size_t i = 0; i < pairs.count; i++)
            if (submit_rule(pairs.items[i].name))
                json_object_set_new(fields, pairs.items[i].name, json_string(pairs.items[i].value));
        check(fields);
    }
    params_release(&pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    as_json((const char *)data, size);
    as_form((const char *)data, size);
    return 0;
}
