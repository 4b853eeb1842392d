// A tar file (ustar) of plain files in one form: fixed rights, no times, no owners. Every tar reads
// it. The reader here takes nothing else: a header is compared byte by byte with the one that would
// be written, and what fills blocks must be zero. So no byte of a file can change unseen, and
// nothing can hide between its members. That is why it is no library's reader, which forgives.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/error.h"

enum { TAR_BLOCK = 512, TAR_NAME_MAX = 100 };

typedef struct TarMember {
    char name[TAR_NAME_MAX + 1]; // letters, digits, '.', '_', '-' and '/'
    const char *data;            // borrowed from the file
    size_t size;
} TarMember;

bool tar_name_is_plain(const char *name);
// False: no such name or size can be written.
bool tar_header(const char *name, size_t size, char out[TAR_BLOCK]);
// The zeros after a member of this size, and the number of zeros at the end of the file.
size_t tar_padding(size_t size);
enum { TAR_END_SIZE = 2 * TAR_BLOCK };

typedef enum { TAR_NEXT, TAR_END, TAR_DAMAGED } TarStep;
// Reads the member at *at, and moves on. TAR_DAMAGED: `err` says where and what to do.
TarStep tar_next(const char *bytes, size_t size, size_t *at, TarMember *out, Error *err);
