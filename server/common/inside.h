// Which addresses, names and targets of requests belong to this machine or to a private network. No
// name is looked up. What is in doubt is not private: an address of a carrier's NAT (100.64/10), a
// name with a dot such as box.local, a spelling that is not the usual one.
#pragma once

#include <stdbool.h>

enum { HOST_MAX = 255 }; // a longer Host is not private

// Whether the text is an IP address of this machine (loopback, 0.0.0.0, ::), of a private network
// (RFC 1918, fc00::/7) or of a link (169.254/16, fe80::/10). An IPv4 address within an IPv6 address
// (::ffff:a.b.c.d) counts as itself.
bool address_is_private(const char *address);
// The same of what the header Host says: an address, "localhost" or a name without a dot; with or
// without a port. False for an empty text.
bool host_is_private(const char *host);
// Whether the target of a request, as received, names no other place: "/path", or one that begins
// with a private host ("http://host/path", "host:port").
bool target_is_private(const char *target);
bool target_is_https(const char *target);
