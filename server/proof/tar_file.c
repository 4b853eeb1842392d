// See tar_file.h.
#include "server/proof/tar_file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The places of the fields (POSIX.1-1988, ustar).
enum {
    AT_MODE = 100,
    AT_UID = 108,
    AT_GID = 116,
    AT_SIZE = 124,
    AT_MTIME = 136,
    AT_SUM = 148,
    AT_TYPE = 156,
    AT_MAGIC = 257
};
static const uint64_t size_limit = 1ULL << 33; // eleven octal digits

bool tar_name_is_plain(const char *name) {
    size_t size = strlen(name);
    return size > 0 && size < TAR_NAME_MAX && *name != '/' && !strstr(name, "..") &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") ==
               size;
}

bool tar_header(const char *name, size_t size, char out[TAR_BLOCK]) {
    unsigned sum = 0;
    if (!tar_name_is_plain(name) || size >= size_limit)
        return false;
    memset(out, 0, TAR_BLOCK);
    memcpy(out, name, strlen(name));
    memcpy(out + AT_MODE, "0000644", 8);
    memcpy(out + AT_UID, "0000000", 8);
    memcpy(out + AT_GID, "0000000", 8);
    snprintf(out + AT_SIZE, 12, "%011llo", (unsigned long long)size);
    memcpy(out + AT_MTIME, "00000000000", 12);
    memset(out + AT_SUM, ' ', 8);
    out[AT_TYPE] = '0';
    memcpy(out + AT_MAGIC, "ustar\00000", 8);
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)out[i];
    snprintf(out + AT_SUM, 7, "%06o", sum);
    out[AT_SUM + 7] = ' ';
    return true;
}

size_t tar_padding(size_t size) {
    return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

static bool is_zero(const char *bytes, size_t size) {
    while (size && !*bytes)
        bytes++, size--;
    return size == 0;
}

static size_t octal(const char *text, int digits) {
    size_t value = 0;
    for (int i = 0; i < digits && text[i] >= '0' && text[i] <= '7'; i++)
        value = value << 3 | (size_t)(text[i] - '0');
    return value;
}

static TarStep damaged(Error *err, size_t at, const char *what) {
    error_set(err, 422, "",
              "byte %zu: %s: the file is damaged or is no bundle; get it again from where it came "
              "from",
              at, what);
    return TAR_DAMAGED;
}

TarStep tar_next(const char *bytes, size_t size, size_t *at, TarMember *out, Error *err) {
    char header[TAR_BLOCK];
    const char *block = bytes + *at;
    if (size - *at < TAR_BLOCK)
        return damaged(err, *at, "the file ends too early");
    if (is_zero(block, TAR_BLOCK))
        return size - *at == TAR_END_SIZE && is_zero(block, TAR_END_SIZE)
                   ? TAR_END
                   : damaged(err, *at, "the end of the archive is not the end of the file");
    memcpy(out->name, block, TAR_NAME_MAX);
    out->name[TAR_NAME_MAX] = 0;
    out->size = octal(block + AT_SIZE, 11);
    if (!tar_header(out->name, out->size, header) || memcmp(header, block, TAR_BLOCK) != 0)
        return damaged(err, *at, "this is not the head of a file in a bundle");
    *at += TAR_BLOCK;
    if (out->size > size - *at || tar_padding(out->size) > size - *at - out->size)
        return damaged(err, size, "the file ends too early");
    out->data = bytes + *at;
    *at += out->size;
    if (!is_zero(bytes + *at, tar_padding(out->size)))
        return damaged(err, *at, "what fills a block is not zero");
    *at += tar_padding(out->size);
    return TAR_NEXT;
}
