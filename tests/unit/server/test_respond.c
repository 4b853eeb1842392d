// What a change answers to a program and to a browser.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "server/http/request.h"
#include "server/routes/respond.h"

static RequestData *request_to(const char *path) {
    Error err;
    RequestData *data = request_new(NULL, path);
    assert_true(request_set_target(data, &err));
    return data;
}

static void a_program_gets_the_document_with_the_address(void **state) {
    (void)state;
    RequestData *data = request_to("/api/v1/tests/7/stop");
    assert_true(
        respond_at(&data->req, &data->res, 201, json_pack("{s:i}", "id", 7), "/tests/%d", 7));
    assert_int_equal(data->res.status, 201);
    assert_string_equal(data->res.body.data, "{\"id\":7,\"url\":\"/tests/7\"}");
    assert_int_equal(data->res.header_count, 0);
    request_free(data);
}

static void a_browser_is_led_on(void **state) {
    (void)state;
    RequestData *data = request_to("/tests/7/stop");
    assert_true(respond(&data->req, &data->res, 200, json_object(), "/tests/7"));
    assert_int_equal(data->res.status, 303);
    assert_string_equal(data->res.headers[0].name, "Location");
    assert_string_equal(data->res.headers[0].value, "/tests/7");
    assert_int_equal(data->res.body.size, 0);
    request_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gets_the_document_with_the_address),
        cmocka_unit_test(a_browser_is_led_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
