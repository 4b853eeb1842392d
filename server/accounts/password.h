// Passwords, as scrypt$N$r$p$salt$hash (salt and hash in hex). Slow on purpose (about a third of a
// second and 32 MiB): reader threads and the command line only, never the loop.
#pragma once

#include "server/common/error.h"

enum { PASSWORD_MIN = 8, PASSWORD_MAX = 200 };

// 422, field `password`: too short or too long.
bool password_check(const char *password, Error *err);
char *password_hash(const char *password);
bool password_matches(const char *stored, const char *password);
// Hashed with less work than password_hash takes now: to be hashed anew at the next login.
bool password_is_weak(const char *stored);
// Takes as long as a real comparison, so that a stranger does not learn which users there are.
void password_match_nobody(const char *password);
