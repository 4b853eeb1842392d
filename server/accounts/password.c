// See password.h.
#include "server/accounts/password.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/log.h"
#include "server/common/str.h"

enum {
    SCRYPT_N = 1 << 15,
    SCRYPT_R = 8,
    SCRYPT_P = 3, // as OWASP advises for this N and r
    SALT_BYTES = 16,
    HASH_BYTES = 32,
    MEMORY_MAX = 256 << 20,
};

bool password_check(const char *password, Error *err) {
    size_t size = strlen(password);
    if (size >= PASSWORD_MIN && size <= PASSWORD_MAX)
        return true;
    return error_field(err, 422, "bad_password", "password", "a password has %d to %d characters",
                       PASSWORD_MIN, PASSWORD_MAX);
}

static void to_hex(const unsigned char *bytes, int count, char *out) {
    for (int i = 0; i < count; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static bool scrypt(const char *password, const char *salt, uint64_t n, uint64_t r, uint64_t p,
                   char hash[2 * HASH_BYTES + 1]) {
    unsigned char key[HASH_BYTES];
    if (EVP_PBE_scrypt(password, strlen(password), (const unsigned char *)salt, strlen(salt), n, r,
                       p, MEMORY_MAX, key, sizeof key) != 1)
        return false;
    to_hex(key, HASH_BYTES, hash);
    return true;
}

char *password_hash(const char *password) {
    unsigned char raw[SALT_BYTES];
    char salt[2 * SALT_BYTES + 1], hash[2 * HASH_BYTES + 1];
    random_bytes(raw, sizeof raw);
    to_hex(raw, SALT_BYTES, salt);
    if (!scrypt(password, salt, SCRYPT_N, SCRYPT_R, SCRYPT_P, hash))
        fatal("OpenSSL cannot compute scrypt");
    return xasprintf("scrypt$%d$%d$%d$%s$%s", SCRYPT_N, SCRYPT_R, SCRYPT_P, salt, hash);
}

bool password_matches(const char *stored, const char *password) {
    unsigned n, r, p;
    char salt[65], wanted[2 * HASH_BYTES + 1], hash[2 * HASH_BYTES + 1];
    if (sscanf(stored, "scrypt$%u$%u$%u$%64[0-9a-f]$%64[0-9a-f]", &n, &r, &p, salt, wanted) != 5)
        return false;
    return scrypt(password, salt, n, r, p, hash) && strlen(wanted) == sizeof wanted - 1 &&
           !CRYPTO_memcmp(hash, wanted, sizeof wanted - 1);
}

bool password_is_weak(const char *stored) {
    unsigned n, r, p;
    return sscanf(stored, "scrypt$%u$%u$%u$", &n, &r, &p) != 3 || n < SCRYPT_N || r < SCRYPT_R ||
           p < SCRYPT_P;
}

void password_match_none(const char *password) {
    char hash[2 * HASH_BYTES + 1];
    scrypt(password, "00000000000000000000000000000000", SCRYPT_N, SCRYPT_R, SCRYPT_P, hash);
}
