// Bodies as handlers see them: JSON taken apart with the member to blame, encodings undone under a
// limit, headers, queries, addresses behind proxies.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "server/common/address.h"
#include "server/common/hash.h"
#include "server/http/request.h"

static const Route route = {"POST", "/", ACCESS_ANYONE, 1000, NULL, NULL};
static RequestData *data;
static Error err;

static int make(void **state) {
    (void)state;
    data = request_new(NULL, "/api/v1/x?a=1&b=%41+c&b=2");
    data->route = &route;
    str_release(&data->raw);
    str_init(&data->raw, 1 << 20);
    return 0;
}

static int release(void **state) {
    (void)state;
    request_free(data);
    return 0;
}

static void body_is(const char *text) {
    data->req.body = text;
    data->req.body_size = strlen(text);
}

static void blames(const char *body, const char *field, int status) {
    const char *name;
    int count, flag;
    json_t *list;
    body_is(body);
    json_decref(data->json);
    data->json = NULL;
    memset(&err, 0, sizeof err);
    if (request_json(&data->req, &err, "{s:s, s?i, s:{s:b, s?n}, s?o}", "name", &name, "count",
                     &count, "inner", "flag", &flag, "nothing", "list", &list))
        fail_msg("taken: %s", body);
    assert_int_equal(err.status, status);
    assert_string_equal(err.field, field);
    assert_non_null(strstr(err.message, field));
}

static void json_that_fits_is_taken_apart(void **state) {
    (void)state;
    const char *name;
    int count = 7, flag;
    body_is("{\"name\": \"x\", \"inner\": {\"flag\": true}}");
    assert_true(request_json(&data->req, &err, "{s:s, s?i, s:{s:b}}", "name", &name, "count",
                             &count, "inner", "flag", &flag));
    assert_string_equal(name, "x");
    assert_int_equal(count, 7);
    assert_int_equal(flag, 1);
}

static void json_that_does_not_fit_names_the_member(void **state) {
    (void)state;
    blames("{\"inner\": {\"flag\": true}}", "name", 422);
    blames("{\"name\": 1, \"inner\": {\"flag\": true}}", "name", 422);
    blames("{\"name\": \"x\", \"count\": \"1\", \"inner\": {\"flag\": true}}", "count", 422);
    blames("{\"name\": \"x\", \"inner\": {\"flag\": 1}}", "flag", 422);
    blames("{\"name\": \"x\", \"inner\": {}}", "flag", 422);
    blames("{\"name\": \"x\", \"inner\": []}", "inner", 422);
    blames("{\"name\": \"x\", \"inner\": {\"flag\": true}, \"more\": 1}", "more", 422);
}

// A name is a part of jansson's message, which has at most 160 bytes.
static void an_unknown_member_may_have_any_name(void **state) {
    (void)state;
    static const char *const names[] = {"more:", ":", "a: b", "a: b:", "left unpacked:"};
    char body[400], longest[200], field[sizeof err.field];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(body, sizeof body, "{\"name\": \"x\", \"inner\": {\"flag\": true}, \"%s\": 1}",
                 names[i]);
        blames(body, names[i], 422);
    }
    for (int size = 100; size < 190; size++) {
        memset(longest, 'n', sizeof longest);
        snprintf(longest + size, sizeof longest - (size_t)size, ":");
        snprintf(body, sizeof body, "{\"name\": \"x\", \"inner\": {\"flag\": true}, \"%s\": 1}",
                 longest);
        memset(field, 0, sizeof field);
        memset(field, 'n', sizeof field - 1);
        blames(body, field, 422);
    }
}

static void what_is_not_json_is_refused_with_its_place(void **state) {
    (void)state;
    const char *const bad[] = {"", "{", "{\"name\": \"x\",}", "{\"a\":1,\"a\":2}", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        blames(bad[i], "", 400);
        assert_non_null(strstr(err.message, "line 1"));
    }
    blames("[]", "", 422);
}

static void set_header(const char *name, const char *value) {
    params_add(&data->headers, name, strlen(name), value, strlen(value));
}

static void zstd_is_undone_up_to_the_routes_limit(void **state) {
    (void)state;
    char text[2000];
    memset(text, 'x', sizeof text);
    set_header("content-encoding", "zstd");
    zstd_compress(text, 900, 3, &data->raw);
    assert_true(request_open_body(data, &err));
    assert_int_equal(data->req.body_size, 900);
    str_release(&data->body);
    str_clear(&data->raw);
    zstd_compress(text, sizeof text, 3, &data->raw);
    assert_false(request_open_body(data, &err));
    assert_int_equal(err.status, 413);
}

static void a_form_body_becomes_fields(void **state) {
    (void)state;
    set_header("Content-Type", "application/x-www-form-urlencoded; charset=utf-8");
    str_puts(&data->raw, "csrf=abc&x=%31");
    assert_true(request_open_body(data, &err));
    assert_string_equal(request_form(&data->req, "x", NULL), "1");
    assert_null(request_form(&data->req, "y", NULL));
}

static void queries_and_ids_are_decoded(void **state) {
    (void)state;
    assert_true(request_set_target(data, &err));
    assert_string_equal(data->req.path, "/api/v1/x");
    assert_true(request_is_api(&data->req));
    assert_string_equal(request_query(&data->req, "b"), "A c");
    assert_null(request_query(&data->req, "c"));
    static const struct {
        const char *text;
        int64_t id;
    } ids[] = {{"12", 12}, {"0", 0}, {"-1", 0}, {"+1", 0}, {"1x", 0}, {"99999999999999999999", 0}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        data->req.params[0] = ids[i].text;
        assert_int_equal(request_id(&data->req, 0), ids[i].id);
    }
    data->req.params[0] = NULL;
    assert_int_equal(request_id(&data->req, 0), 0);
}

static void cookies_are_taken_apart(void **state) {
    (void)state;
    set_header("Cookie", "a=1; patchmate_session=xyz=; broken; b=2");
    request_set_cookies(data);
    assert_int_equal(data->cookies.count, 3);
    assert_string_equal(params_find(&data->cookies, "patchmate_session")->value, "xyz=");
}

static void the_client_is_the_last_address_that_is_not_a_proxys(void **state) {
    (void)state;
    Trusted trusted = {0};
    assert_true(trusted_add(&trusted, "127.0.0.1", &err));
    assert_true(trusted_add(&trusted, "::ffff:10.0.0.1", &err));
    assert_false(trusted_add(&trusted, "localhost", &err));
    static const char *const cases[][3] = {
        {"192.0.2.1", "1.1.1.1", "192.0.2.1"}, // no proxy of ours: its word counts nothing
        {"127.0.0.1", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1", "1.1.1.1"},
        {"127.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"},
        {"127.0.0.1", "6.6.6.6, 1.1.1.1 , 10.0.0.1", "1.1.1.1"},
        {"127.0.0.1", "2001:DB8::1", "2001:db8::1"},
        {"127.0.0.1", "6.6.6.6, nonsense", "127.0.0.1"},
        {"127.0.0.1", "", "127.0.0.1"},
        {"127.0.0.1", ",,", "127.0.0.1"},
        {"127.0.0.1", "127.0.0.1", "127.0.0.1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char client[ADDRESS_MAX];
        address_of_client(&trusted, cases[i][0], cases[i][1], client);
        assert_string_equal(client, cases[i][2]);
    }
}

static void listening_needs_an_address_and_a_port(void **state) {
    (void)state;
    const char *const bad[] = {"", "8080", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000"};
    int port;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(address_listen(bad[i], &port, &err), -1);
    int fd scope(close_fd) = address_listen("127.0.0.1:0", &port, &err);
    assert_true(fd >= 0 && port > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, release)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(json_that_fits_is_taken_apart),
        TEST(json_that_does_not_fit_names_the_member),
        TEST(an_unknown_member_may_have_any_name),
        TEST(what_is_not_json_is_refused_with_its_place),
        TEST(zstd_is_undone_up_to_the_routes_limit),
        TEST(a_form_body_becomes_fields),
        TEST(queries_and_ids_are_decoded),
        TEST(cookies_are_taken_apart),
        TEST(the_client_is_the_last_address_that_is_not_a_proxys),
        TEST(listening_needs_an_address_and_a_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
