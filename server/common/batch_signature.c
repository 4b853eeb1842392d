// See batch_signature.h.
#include "server/common/batch_signature.h"

#include <openssl/evp.h>

#include <inttypes.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/str.h"

enum { KEY_SIZE = SIGNING_KEY_HEX / 2, SIGNATURE_SIZE = SIGNATURE_HEX / 2 };

static void key_free(EVP_PKEY **key) {
    EVP_PKEY_free(*key);
}

static void context_free(EVP_MD_CTX **context) {
    EVP_MD_CTX_free(*context);
}

// ---- hex ----------------------------------------------------------------------------------------

bool hex_is(const char *text, int digits) {
    return text && strspn(text, "0123456789abcdef") == (size_t)digits && !text[digits];
}

static void hex_write(const unsigned char *bytes, int size, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < size; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = 0;
}

static unsigned char digit(char c) {
    return (unsigned char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static bool hex_read(const char *text, int size, unsigned char *out) {
    if (!hex_is(text, 2 * size))
        return false;
    for (int i = 0; i < size; i++)
        out[i] = (unsigned char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return true;
}

// ---- the text -----------------------------------------------------------------------------------

char *signed_json(const json_t *value) {
    return json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
}

// The first line names the purpose and the version of the form: a key that signs batches signs
// nothing that means something else.
char *signed_text(const SignedBatch *batch) {
    char *result scope(free_ptr) = signed_json(batch->result);
    if (!result || strpbrk(batch->installation, "\r\n") || strpbrk(batch->tc, "\r\n") ||
        (batch->games_sha256 && !sha256_is_hex(batch->games_sha256)))
        return NULL;
    return xasprintf("patchmate batch 1\ninstallation %s\ntest %" PRId64 "\ntask %" PRId64
                     "\nseq %" PRId64 "\ngames %s\ntc %s\nthought %" PRId64 "\nresult %s\n",
                     batch->installation, batch->test, batch->task, batch->seq,
                     batch->games_sha256 ? batch->games_sha256 : "-", batch->tc, batch->thought,
                     result);
}

// ---- keys ---------------------------------------------------------------------------------------

void signing_key_make(char secret[SIGNING_KEY_MAX]) {
    unsigned char bytes[KEY_SIZE];
    random_bytes(bytes, sizeof bytes);
    hex_write(bytes, KEY_SIZE, secret);
}

static EVP_PKEY *secret_key(const char *secret) {
    unsigned char bytes[KEY_SIZE];
    return hex_read(secret, KEY_SIZE, bytes)
               ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, bytes, sizeof bytes)
               : NULL;
}

bool signing_key_public(const char *secret, char public_key[SIGNING_KEY_MAX]) {
    EVP_PKEY *key scope(key_free) = secret_key(secret);
    unsigned char bytes[KEY_SIZE];
    size_t size = sizeof bytes;
    if (!key || EVP_PKEY_get_raw_public_key(key, bytes, &size) != 1 || size != sizeof bytes)
        return false;
    hex_write(bytes, KEY_SIZE, public_key);
    return true;
}

bool signature_make(const char *secret, const char *text, char signature[SIGNATURE_MAX]) {
    EVP_PKEY *key scope(key_free) = secret_key(secret);
    EVP_MD_CTX *context scope(context_free) = EVP_MD_CTX_new();
    unsigned char bytes[SIGNATURE_SIZE];
    size_t size = sizeof bytes;
    if (!key || !context || EVP_DigestSignInit(context, NULL, NULL, NULL, key) != 1 ||
        EVP_DigestSign(context, bytes, &size, (const unsigned char *)text, strlen(text)) != 1)
        return false;
    hex_write(bytes, SIGNATURE_SIZE, signature);
    return true;
}

bool signature_fits(const char *public_key, const char *text, const char *signature) {
    unsigned char key_bytes[KEY_SIZE], bytes[SIGNATURE_SIZE];
    if (!hex_read(public_key, KEY_SIZE, key_bytes) || !hex_read(signature, SIGNATURE_SIZE, bytes))
        return false;
    EVP_PKEY *key scope(key_free) =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key_bytes, sizeof key_bytes);
    EVP_MD_CTX *context scope(context_free) = EVP_MD_CTX_new();
    return key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
           EVP_DigestVerify(context, bytes, sizeof bytes, (const unsigned char *)text,
                            strlen(text)) == 1;
}
