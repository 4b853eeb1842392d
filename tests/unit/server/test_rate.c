// Limits by address: bursts, what comes back with time, who shares and who does not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/http/rate_limit.h"

static Rate *rate;
static double wait_s;

static int make(void **state) {
    (void)state;
    rate = rate_new();
    return 0;
}

static int drop(void **state) {
    (void)state;
    rate_free(rate);
    return 0;
}

static int taken(const char *address, double now) {
    int count = 0;
    while (rate_take(rate, address, 30, now, &wait_s))
        count++;
    return count;
}

static void a_minutes_worth_may_come_at_once(void **state) {
    (void)state;
    assert_int_equal(taken("192.0.2.1", 1000), 30);
    assert_true(wait_s > 1.99 && wait_s < 2.01);
}

static void it_comes_back_evenly_and_never_beyond_a_minutes_worth(void **state) {
    (void)state;
    taken("192.0.2.1", 1000);
    assert_int_equal(taken("192.0.2.1", 1001), 0);
    assert_int_equal(taken("192.0.2.1", 1011), 5);
    assert_int_equal(taken("192.0.2.1", 9000), 30);
}

static void addresses_do_not_pay_for_each_other_but_a_network_is_one(void **state) {
    (void)state;
    taken("192.0.2.1", 1000);
    assert_int_equal(taken("192.0.2.2", 1000), 30);
    taken("2001:db8::1", 1000);
    assert_int_equal(taken("2001:db8::ffff:2", 1000), 0);
    assert_int_equal(taken("2001:db8:0:1::1", 1000), 30);
}

#define WITH_RATE(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_RATE(a_minutes_worth_may_come_at_once),
        WITH_RATE(it_comes_back_evenly_and_never_beyond_a_minutes_worth),
        WITH_RATE(addresses_do_not_pay_for_each_other_but_a_network_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
