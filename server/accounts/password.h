// Passwords, stored as scrypt$N$r$p$salt$hash (salt and hash in hex). Hashing is slow on purpose:
// it takes about a third of a second and 32 MiB. So it runs on reader threads and in commands,
// never on the loop thread.
#pragma once

#include "server/common/error.h"

enum { PASSWORD_MIN = 8, PASSWORD_MAX = 200 };

// 422, field `password`: too short or too long.
bool password_check(const char *password, Error *err);
char *password_hash(const char *password);
bool password_matches(const char *stored, const char *password);
// The hash took less work than password_hash() now takes. It should be replaced at the next login.
bool password_is_weak(const char *stored);
// For a name that no account has: takes as long as a real comparison, so that a caller cannot find
// out which names exist.
void password_match_none(const char *password);
