// CRC-32 as in zlib, PNG and Ethernet (polynomial 0xEDB88320, reflected), for files that must not
// be damaged unseen. No protection against ill will.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Of `size` bytes that follow those whose sum is `before`; 0 to begin.
uint32_t checksum_crc32(uint32_t before, const void *bytes, size_t size);
