// A file that a match appends to and that may be cut back to where a state file says it stood, so
// that a match that was killed in the middle of a write goes on without anything twice.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"

typedef struct OutFile {
    const char *path; // borrowed; NULL: there is none, and every call is fine
    int fd;
    int64_t size;
    bool summed; // keeps a CRC-32 of all that the file holds
    uint32_t crc;
} OutFile;

// `append` false: what was in it goes. `summed`: also reads what is there already.
bool out_file_open(OutFile *file, const char *path, bool append, bool summed, Error *err);
// For going on: the file must still hold its first `size` bytes; the rest is cut off.
bool out_file_resume(OutFile *file, const char *path, int64_t size, bool summed, Error *err);
// A write that fails part of the way is taken back.
bool out_file_write(OutFile *file, const void *data, size_t size, Error *err);
// What was written is on disk when this returns.
bool out_file_sync(const OutFile *file, Error *err);
void out_file_close(OutFile *file);
