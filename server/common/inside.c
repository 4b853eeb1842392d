// See inside.h.
#include "server/common/inside.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ALPHA "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

// ---- addresses ----------------------------------------------------------------------------------

static bool four_is_private(struct in_addr address) {
    static const struct {
        uint32_t network;
        int bits;
    } networks[] = {{0x00000000, 32}, {0x7f000000, 8},  {0x0a000000, 8},
                    {0xac100000, 12}, {0xc0a80000, 16}, {0xa9fe0000, 16}};
    uint32_t host = ntohl(address.s_addr);
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if ((host ^ networks[i].network) >> (32 - networks[i].bits) == 0)
            return true;
    return false;
}

static bool six_is_private(const struct in6_addr *address) {
    struct in_addr four;
    const uint8_t *bytes = address->s6_addr;
    if (IN6_IS_ADDR_V4MAPPED(address)) {
        memcpy(&four, bytes + 12, sizeof four);
        return four_is_private(four);
    }
    return IN6_IS_ADDR_LOOPBACK(address) || IN6_IS_ADDR_UNSPECIFIED(address) ||
           IN6_IS_ADDR_LINKLOCAL(address) || (bytes[0] & 0xfe) == 0xfc;
}

bool address_is_private(const char *address) {
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, address, &four) == 1)
        return four_is_private(four);
    return inet_pton(AF_INET6, address, &six) == 1 && six_is_private(&six);
}

// ---- names --------------------------------------------------------------------------------------

// Takes "name" out of "name", "name:" and "name:port", and the address out of "[address]:port".
// False if the text has another form.
static bool split_port(const char *host, char name[HOST_MAX + 1], bool *bracket) {
    *bracket = host[0] == '[';
    const char *start = *bracket ? host + 1 : host;
    size_t size = strcspn(start, *bracket ? "]" : ":");
    if (size > HOST_MAX || (*bracket && start[size] != ']'))
        return false;
    snprintf(name, HOST_MAX + 1, "%.*s", (int)size, start);
    const char *rest = *bracket ? start + size + 1 : start + size;
    return !*rest || (*rest == ':' && !rest[1 + strspn(rest + 1, DIGITS)]);
}

// inet_aton() knows other spellings of IPv4 addresses, such as 2130706433 and 0x7f.1, as clients
// do. What looks like a number and is no address is not a name.
static bool name_is_private(const char *name) {
    struct in_addr four;
    if (!*name || name[strspn(name, ALPHA DIGITS "-_.")])
        return false;
    if (inet_aton(name, &four))
        return four_is_private(four);
    if (!strcasecmp(name, "localhost") || !strcasecmp(name, "localhost."))
        return true;
    return !strchr(name, '.') && name[strspn(name, DIGITS)] && strncasecmp(name, "0x", 2) != 0;
}

bool host_is_private(const char *host) {
    char name[HOST_MAX + 1];
    bool bracket;
    struct in6_addr six;
    if (!split_port(host, name, &bracket))
        return false;
    return bracket ? inet_pton(AF_INET6, name, &six) == 1 && six_is_private(&six)
                   : name_is_private(name);
}

// ---- targets ------------------------------------------------------------------------------------

bool target_is_private(const char *target) {
    char host[HOST_MAX + 1];
    if (*target == '/' || !strcmp(target, "*"))
        return true;
    size_t scheme = strspn(target, ALPHA DIGITS "+-.");
    const char *start = !strncmp(target + scheme, "://", 3) ? target + scheme + 3 : target;
    size_t size = strcspn(start, "/?#");
    if (size > HOST_MAX)
        return false;
    snprintf(host, sizeof host, "%.*s", (int)size, start);
    return host_is_private(host);
}

bool target_is_https(const char *target) {
    return !strncasecmp(target, "https:", 6);
}
