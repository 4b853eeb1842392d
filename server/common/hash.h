// SHA-256 and random bytes (OpenSSL), and zstd, in the forms that server and worker need.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/str.h"

enum { SHA256_HEX_MAX = 65, TOKEN_MAX = 44 };

// Lower-case hex with a final NUL. Returns `out`.
char *sha256_hex(const void *data, size_t size, char out[SHA256_HEX_MAX]);
bool sha256_is_hex(const char *text); // exactly 64 lower-case hex digits
// 256 random bits as 43 characters of URL-safe base64. Returns `out`.
char *token_random(char out[TOKEN_MAX]);
// A fast hash for tables: FNV-1a that starts from `seed`, mixed so that the low bits depend on all
// bits. With a secret seed, clients cannot choose names that fall into one slot.
uint64_t table_hash(uint64_t seed, const void *bytes, size_t size);
// `size` random bytes.
void random_bytes(void *out, size_t size);

// Both append to `out`. Decompression fails when `out` would exceed its maximum.
void zstd_compress(const void *data, size_t size, int level, Str *out);
bool zstd_decompress(const void *data, size_t size, Str *out, Error *err);
