// What counts as this machine or a private network: addresses, the header Host, targets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "server/common/inside.h"

static void all_are(const char *const *texts, bool (*is)(const char *), bool wanted) {
    for (; *texts; texts++)
        if (is(*texts) != wanted)
            fail_msg("%s is %sprivate", *texts, wanted ? "not " : "");
}

static void addresses_of_this_machine_and_of_private_networks_are_private(void **state) {
    (void)state;
    all_are((const char *const[]){"127.0.0.1",
                                  "127.255.255.255",
                                  "0.0.0.0",
                                  "10.0.0.0",
                                  "10.255.255.255",
                                  "172.16.0.0",
                                  "172.31.255.255",
                                  "192.168.0.0",
                                  "192.168.255.255",
                                  "169.254.0.0",
                                  "169.254.255.255",
                                  "::1",
                                  "::",
                                  "fc00::",
                                  "fdff:ffff::1",
                                  "fe80::1",
                                  "febf:ffff::",
                                  "::ffff:127.0.0.1",
                                  "::ffff:192.168.1.7",
                                  "::FFFF:0a00:0001",
                                  NULL},
            address_is_private, true);
}

// 100.64/10 is where a carrier has its customers, and these are strangers to each other.
static void all_other_addresses_are_not(void **state) {
    (void)state;
    all_are((const char *const[]){"126.255.255.255",
                                  "128.0.0.0",
                                  "0.0.0.1",
                                  "9.255.255.255",
                                  "11.0.0.0",
                                  "172.15.255.255",
                                  "172.32.0.0",
                                  "192.167.255.255",
                                  "192.169.0.0",
                                  "169.253.255.255",
                                  "169.255.0.0",
                                  "100.64.0.1",
                                  "100.127.255.255",
                                  "192.0.2.1",
                                  "198.51.100.1",
                                  "203.0.113.1",
                                  "224.0.0.1",
                                  "255.255.255.255",
                                  "::2",
                                  "fbff::1",
                                  "fe00::1",
                                  "fe7f::1",
                                  "fec0::1",
                                  "2001:db8::1",
                                  "2003::1",
                                  "::127.0.0.1",
                                  "::ffff:8.8.8.8",
                                  "64:ff9b::127.0.0.1",
                                  "2002:7f00:1::",
                                  "ff02::1",
                                  "unknown",
                                  "",
                                  "127.1",
                                  "fe80::1%lo",
                                  "localhost",
                                  NULL},
            address_is_private, false);
}

static void hosts_of_a_private_network_are_private(void **state) {
    (void)state;
    all_are((const char *const[]){"localhost",
                                  "LOCALHOST",
                                  "LocalHost:8080",
                                  "localhost.",
                                  "localhost.:80",
                                  "localhost:",
                                  "box",
                                  "BOX-2:8080",
                                  "my_box",
                                  "4f5ac",
                                  "127.0.0.1",
                                  "127.0.0.1:8080",
                                  "0.0.0.0:8080",
                                  "192.168.1.5:1",
                                  "[::1]",
                                  "[::1]:8080",
                                  "[FE80::1]:1",
                                  "[fd00::7]:",
                                  "[::ffff:10.0.0.1]:80",
                                  "[::]:80",
                                  "127.1",
                                  "2130706433",
                                  "0x7f000001:80",
                                  "017700000001",
                                  "x0123",
                                  NULL},
            host_is_private, true);
}

static void all_other_hosts_are_not(void **state) {
    (void)state;
    static const char *const hosts[] = {"",
                                        ":8080",
                                        ".",
                                        "example.org",
                                        "example.org.",
                                        "a.b",
                                        "box.",
                                        "box.local",
                                        "evil.localhost",
                                        "evil.localhost:80",
                                        "localhost..",
                                        "localhost.evil.org",
                                        ".localhost",
                                        "100.64.0.1",
                                        "203.0.113.7:80",
                                        "8.8.8.8",
                                        "134744072",
                                        "0x08080808",
                                        "8.8",
                                        "99999999999",
                                        "0x1ffffffff",
                                        "0xg",
                                        "127.0.0.1.",
                                        "127.0.0.1.evil.org",
                                        "192.168.1.256",
                                        "[2003::1]:80",
                                        "[::ffff:8.8.8.8]",
                                        "[::1",
                                        "[::1]80",
                                        "[]",
                                        "[localhost]",
                                        "[127.0.0.1]",
                                        "[fe80::1%25lo]",
                                        "::1",
                                        "fd00::7",
                                        "localhost:80:80",
                                        "localhost:x",
                                        "localhost:-1",
                                        "user@localhost",
                                        "localhost,evil.org",
                                        "localhost, box",
                                        "local host",
                                        " localhost",
                                        "localhost ",
                                        "localhost/",
                                        "localhost\\",
                                        "127.0.0.1 evil",
                                        "localhost#",
                                        "b\xC3\xBCro",
                                        "\xEF\xBD\x82ox",
                                        "box\t",
                                        "%6cocalhost",
                                        NULL};
    all_are(hosts, host_is_private, false);
    char vast[HOST_MAX + 2];
    memset(vast, 'a', sizeof vast);
    vast[HOST_MAX + 1] = 0;
    assert_false(host_is_private(vast));
    vast[HOST_MAX] = 0;
    assert_true(host_is_private(vast));
}

static void a_target_that_names_another_place_is_not_private(void **state) {
    (void)state;
    all_are((const char *const[]){"/", "/a?b=http://evil.org", "//evil.org/x", "*",
                                  "http://localhost:8080/x", "HTTP://BOX", "http://[::1]:80?x",
                                  "localhost:443", "x", NULL},
            target_is_private, true);
    all_are((const char *const[]){"http://evil.org/", "http://evil.org",
                                  "http://localhost@evil.org/", "http:///x", "http://",
                                  "evil.org:443", "ftp://8.8.8.8/", "", "?",
                                  "http://localhost.evil.org?localhost", NULL},
            target_is_private, false);
    char vast[HOST_MAX + 20] = "http://";
    memset(vast + 7, 'a', HOST_MAX + 1);
    assert_false(target_is_private(vast));
    vast[7 + HOST_MAX] = 0;
    assert_true(target_is_private(vast));
    assert_true(target_is_https("HTTPS://localhost/") && target_is_https("https://x"));
    assert_false(target_is_https("http://https:/") || target_is_https("/https://"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_this_machine_and_of_private_networks_are_private),
        cmocka_unit_test(all_other_addresses_are_not),
        cmocka_unit_test(hosts_of_a_private_network_are_private),
        cmocka_unit_test(all_other_hosts_are_not),
        cmocka_unit_test(a_target_that_names_another_place_is_not_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
