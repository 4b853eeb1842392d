// Internet addresses: the one to listen on, and the client's when a proxy stands in front of the
// server.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "server/common/error.h"

enum { ADDRESS_MAX = 48, TRUSTED_MAX = 8 };

typedef struct Trusted {
    char addresses[TRUSTED_MAX][ADDRESS_MAX];
    int count;
} Trusted;

// False: not an IP address, or too many.
bool trusted_add(Trusted *trusted, const char *address, Error *err);
bool trusted_has(const Trusted *trusted, const char *address);
// "127.0.0.1:8080", "[::1]:8080", "*:80". Returns a listening socket, -1 on error. *port is the
// port of the socket: the system chooses one if `where` says 0.
int address_listen(const char *where, int *port, Error *err);
void address_of_peer(const struct sockaddr *peer, char out[ADDRESS_MAX]);
// The network of an address, for limits and for owners. An IPv4 address is its own network. The
// network of an IPv6 address is "2001:db8:1:2::/64", because one customer has all of it. Other text
// stays as it is.
void address_network(const char *address, char out[ADDRESS_MAX]);
// The client's address: `peer`, or, if that is a trusted proxy, the rightmost address of
// X-Forwarded-For that is no trusted proxy.
void address_of_client(const Trusted *trusted, const char *peer, const char *forwarded,
                       char out[ADDRESS_MAX]);
