// What the worker's tests share: the examples of server/API.md and tar archives.
#pragma once

#include <jansson.h>
#include <stddef.h>

// The fenced block "```json NAME" of server/API.md, parsed. New; fails the test when it is missing.
json_t *kit_api_example(const char *name);
// claim.reply with as many openings as it says.
json_t *kit_task(void);
// A side of a task document. Borrowed.
json_t *kit_side(json_t *task, int side);
// Sets one member of a document, or takes it away if `value` is NULL. `path` names members from the
// top, separated by dots; numbers are places in lists. Steals `value`.
void kit_set_at(json_t *root, const char *path, json_t *value);

// A tar archive in memory, growing.
typedef struct KitTar {
    char *data;
    size_t size, room;
} KitTar;
typedef enum {
    KIT_FILE = '0',
    KIT_HARDLINK = '1',
    KIT_SYMLINK = '2',
    KIT_DEVICE = '3',
    KIT_BLOCK_DEVICE = '4',
    KIT_FOLDER = '5',
    KIT_PIPE = '6'
} KitEntry;
// `target` of links, else NULL.
void kit_tar_add(KitTar *tar, KitEntry type, const char *path, const char *target,
                 const char *content, size_t size);
// The same with rights of its own.
void kit_tar_add_mode(KitTar *tar, KitEntry type, const char *path, unsigned mode);
void kit_tar_end(KitTar *tar);
void kit_tar_release(KitTar *tar);
