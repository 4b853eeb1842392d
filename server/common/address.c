// See address.h.
#include "server/common/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/common/str.h"

// One spelling of an address; IPv4 seen through an IPv6 socket becomes plain IPv4.
static bool address_canonical(const char *text, char out[ADDRESS_MAX]) {
    struct in6_addr six;
    struct in_addr four;
    if (inet_pton(AF_INET, text, &four) == 1)
        return inet_ntop(AF_INET, &four, out, ADDRESS_MAX);
    if (inet_pton(AF_INET6, text, &six) != 1)
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&six))
        return inet_ntop(AF_INET, six.s6_addr + 12, out, ADDRESS_MAX);
    return inet_ntop(AF_INET6, &six, out, ADDRESS_MAX);
}

bool trusted_add(Trusted *trusted, const char *address, Error *err) {
    if (trusted->count == TRUSTED_MAX)
        return error_set(err, 0, "", "more than %d trusted proxies", TRUSTED_MAX);
    if (!address_canonical(address, trusted->addresses[trusted->count]))
        return error_set(err, 0, "", "%s is not an IP address", address);
    trusted->count++;
    return true;
}

bool trusted_has(const Trusted *trusted, const char *address) {
    for (int i = 0; i < trusted->count; i++)
        if (!strcmp(trusted->addresses[i], address))
            return true;
    return false;
}

void address_of_peer(const struct sockaddr *peer, char out[ADDRESS_MAX]) {
    char text[INET6_ADDRSTRLEN] = "";
    const void *raw = peer->sa_family == AF_INET6
                          ? (const void *)&((const struct sockaddr_in6 *)peer)->sin6_addr
                          : (const void *)&((const struct sockaddr_in *)peer)->sin_addr;
    if (!inet_ntop(peer->sa_family, raw, text, sizeof text) || !address_canonical(text, out))
        snprintf(out, ADDRESS_MAX, "unknown");
}

void address_network(const char *address, char out[ADDRESS_MAX]) {
    struct in6_addr six;
    char canonical[ADDRESS_MAX], network[INET6_ADDRSTRLEN];
    bool known = address_canonical(address, canonical);
    snprintf(out, ADDRESS_MAX, "%s", known ? canonical : address);
    if (!known || inet_pton(AF_INET6, canonical, &six) != 1)
        return;
    memset(six.s6_addr + 8, 0, 8);
    if (inet_ntop(AF_INET6, &six, network, sizeof network))
        snprintf(out, ADDRESS_MAX, "%.44s/64", network);
}

void address_of_client(const Trusted *trusted, const char *peer, const char *forwarded,
                       char out[ADDRESS_MAX]) {
    snprintf(out, ADDRESS_MAX, "%s", peer);
    size_t end = forwarded ? strlen(forwarded) : 0;
    while (end && trusted_has(trusted, out)) {
        size_t start = end;
        while (start && forwarded[start - 1] != ',')
            start--;
        size_t skip = start + strspn(forwarded + start, " \t");
        char one[ADDRESS_MAX], canonical[ADDRESS_MAX];
        snprintf(one, sizeof one, "%.*s", (int)(end > skip ? end - skip : 0), forwarded + skip);
        one[strcspn(one, " \t,")] = 0;
        if (!address_canonical(one, canonical))
            return;
        snprintf(out, ADDRESS_MAX, "%s", canonical);
        end = start ? start - 1 : 0;
    }
}

// ---- listening ----------------------------------------------------------------------------------

static void free_list(struct addrinfo **list) {
    if (*list)
        freeaddrinfo(*list);
}

static int port_of(int fd) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } own = {.v6 = {.sin6_port = 0}};
    socklen_t size = sizeof own;
    if (getsockname(fd, &own.any, &size) < 0)
        return 0;
    return ntohs(own.any.sa_family == AF_INET6 ? own.v6.sin6_port : own.v4.sin_port);
}

static int listen_on(const struct addrinfo *info) {
    int on = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, 1024) == 0)
        return fd;
    close(fd);
    return -1;
}

int address_listen(const char *where, int *port, Error *err) {
    char host[256];
    const char *colon = strrchr(where, ':');
    long number;
    if (!colon || !parse_long(colon + 1, 0, 65535, &number))
        return error_set(err, 0, "", "%s is not ADDRESS:PORT", where), -1;
    bool bracket = *where == '[' && colon > where + 1 && colon[-1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(colon - where) - 2 * bracket, where + bracket);
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list scope(free_list) = NULL;
    bool any = !*host || !strcmp(host, "*");
    int rc = getaddrinfo(any ? NULL : host, colon + 1, &hints, &list);
    if (rc)
        return error_set(err, 0, "", "cannot listen on %s: %s", where, gai_strerror(rc)), -1;
    int fd = listen_on(list);
    if (fd < 0)
        error_errno(err, "cannot listen on %s", where);
    else
        *port = port_of(fd);
    return fd;
}
