// The files that a training run writes.
#pragma once

#include "learn/train_set.h"

// Writes FOLDER/NAME under another name, makes sure that it is on disk, and renames it. A reader
// sees either the complete old file or the complete new one.
bool output_write(const char *folder, const char *name, const void *bytes, size_t size,
                  Refusal *err) __attribute__((warn_unused_result));
// Makes the folder if it does not exist.
bool output_folder(const char *folder, Refusal *err) __attribute__((warn_unused_result));
bool output_exists(const char *folder, const char *name);
// Returns all bytes of FOLDER/NAME in new memory, or NULL with a reason.
void *output_read(const char *folder, const char *name, size_t *size, Refusal *err)
    __attribute__((warn_unused_result));
