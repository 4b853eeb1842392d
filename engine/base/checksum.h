// CRC-32 as in zlib, PNG and Ethernet (polynomial 0xEDB88320, reflected). It detects damaged files.
// It does not protect against deliberate changes.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The checksum of `size` bytes that follow bytes with the checksum `before`. Begin with 0.
uint32_t checksum_crc32(uint32_t before, const void *bytes, size_t size);
