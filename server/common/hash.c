// See hash.h.
#include "server/common/hash.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>
#include <zstd.h>

#include "server/common/log.h"

char *sha256_hex(const void *data, size_t size, char out[SHA256_HEX_MAX]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char sum[32];
    if (!EVP_Digest(data, size, sum, NULL, EVP_sha256(), NULL))
        fatal("OpenSSL cannot compute SHA-256");
    for (int i = 0; i < 32; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[64] = 0;
    return out;
}

bool sha256_is_hex(const char *text) {
    return strspn(text, "0123456789abcdef") == 64 && strlen(text) == 64;
}

uint64_t table_hash(uint64_t seed, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++)
        seed = (seed ^ p[i]) * 0x100000001b3;
    return seed ^ seed >> 32;
}

void random_bytes(void *out, size_t size) {
    if (RAND_bytes(out, (int)size) != 1)
        fatal("OpenSSL has no random numbers");
}

char *token_random(char out[TOKEN_MAX]) {
    unsigned char raw[32];
    char padded[48];
    random_bytes(raw, sizeof raw);
    EVP_EncodeBlock((unsigned char *)padded, raw, sizeof raw); // 44 characters, the last is '='
    for (int i = 0; i < TOKEN_MAX - 1; i++)
        out[i] = padded[i] == '+' ? '-' : padded[i] == '/' ? '_' : padded[i];
    out[TOKEN_MAX - 1] = 0;
    return out;
}

void zstd_compress(const void *data, size_t size, int level, Str *out) {
    size_t bound = ZSTD_compressBound(size);
    char *buffer scope(free_ptr) = xmalloc(bound);
    size_t n = ZSTD_compress(buffer, bound, data, size, level);
    if (ZSTD_isError(n))
        fatal("zstd: %s", ZSTD_getErrorName(n));
    str_add(out, buffer, n);
}

static void free_stream(ZSTD_DStream **stream) {
    ZSTD_freeDStream(*stream);
}

bool zstd_decompress(const void *data, size_t size, Str *out, Error *err) {
    ZSTD_DStream *stream scope(free_stream) = ZSTD_createDStream();
    if (!stream)
        fatal("out of memory");
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 27);
    char chunk[65536];
    ZSTD_inBuffer in = {data, size, 0};
    size_t left = 1;
    bool full;
    do {
        ZSTD_outBuffer piece = {chunk, sizeof chunk, 0};
        left = ZSTD_decompressStream(stream, &piece, &in);
        if (ZSTD_isError(left))
            return error_set(err, 400, "bad_compression", "zstd: %s", ZSTD_getErrorName(left));
        str_add(out, chunk, piece.pos);
        if (out->overflow)
            return error_set(err, 413, "too_large", "the decompressed data is over %zu bytes",
                             out->max);
        full = piece.pos == sizeof chunk;
    } while (in.pos < in.size || full);
    if (left)
        return error_set(err, 400, "bad_compression", "zstd: the data is cut short");
    return true;
}
