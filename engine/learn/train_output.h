// Files that a training run leaves.
#pragma once

#include "learn/train_set.h"

// Writes FOLDER/NAME under another name, makes sure that it is on disk, and renames it: whoever
// reads it sees all of the old or all of the new.
bool output_write(const char *folder, const char *name, const void *bytes, size_t size,
                  Refusal *err) __attribute__((warn_unused_result));
// The folder exists afterwards.
bool output_folder(const char *folder, Refusal *err) __attribute__((warn_unused_result));
bool output_exists(const char *folder, const char *name);
// All of FOLDER/NAME in new memory, or NULL with a reason.
void *output_read(const char *folder, const char *name, size_t *size, Refusal *err)
    __attribute__((warn_unused_result));
