// SHA-256 (FIPS 180-4), for the names of nets and books.
#pragma once

#include <stddef.h>

enum { SHA256_TEXT_SIZE = 65 };

// The digest of `size` bytes in 64 hexadecimal digits and a NUL.
void sha256_text(const void *bytes, size_t size, char out[SHA256_TEXT_SIZE]);
