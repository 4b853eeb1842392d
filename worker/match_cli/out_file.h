// A file to which a match appends. A match that is resumed truncates it to the size that the state
// file holds, so that no game is written twice after the program was killed during a write.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"

typedef struct OutFile {
    const char *path; // borrowed; NULL: no file, and every call succeeds without effect
    int fd;
    int64_t size;
    bool summed; // `crc` is the CRC-32 of the whole file
    uint32_t crc;
} OutFile;

// `append` false: truncates the file. `summed`: reads the present contents for the CRC-32.
bool out_file_open(OutFile *file, const char *path, bool append, bool summed, Error *err);
// Opens the file of a match that is resumed. The file must have at least `size` bytes; the rest is
// cut off.
bool out_file_resume(OutFile *file, const char *path, int64_t size, bool summed, Error *err);
// If only a part could be written, the file is truncated to its size before the call.
bool out_file_write(OutFile *file, const void *data, size_t size, Error *err);
// When it returns true, everything written is on disk.
bool out_file_sync(const OutFile *file, Error *err);
void out_file_close(OutFile *file);
