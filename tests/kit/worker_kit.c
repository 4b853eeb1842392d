// See worker_kit.h.
#include "tests/kit/worker_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "server/common/str.h"

json_t *kit_api_example(const char *name) {
    Error err;
    char *text scope(free_ptr) = file_read("server/API.md", 1 << 20, NULL, &err);
    char *fence scope(free_ptr) = xasprintf("```json %s\n", name);
    char *start = text ? strstr(text, fence) : NULL;
    char *end = start ? strstr(start + 3, "\n```") : NULL;
    if (!end)
        fatal("server/API.md has no example %s", name);
    start += strlen(fence);
    json_error_t detail;
    json_t *root = json_loadb(start, (size_t)(end - start), 0, &detail);
    if (!root)
        fatal("example %s: %s", name, detail.text);
    return root;
}

json_t *kit_task(void) {
    json_t *task = kit_api_example("claim.reply");
    json_t *openings = json_object_get(task, "openings");
    json_int_t pairs = json_integer_value(json_object_get(task, "pairs"));
    while ((json_int_t)json_array_size(openings) < pairs)
        json_array_append_new(openings, json_deep_copy(json_array_get(openings, 0)));
    return task;
}

json_t *kit_side(json_t *task, int side) {
    return json_array_get(json_object_get(task, "sides"), (size_t)side);
}

void kit_set_at(json_t *root, const char *path, json_t *value) {
    char part[64];
    for (;;) {
        size_t n = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        if (!path[n])
            break;
        long index;
        root = parse_long(part, 0, 1000, &index) ? json_array_get(root, (size_t)index)
                                                 : json_object_get(root, part);
        if (!root)
            fatal("there is no %s", path);
        path += n + 1;
    }
    if (value)
        json_object_set_new(root, part, value);
    else
        json_object_del(root, part);
}

static void append(KitTar *tar, const void *bytes, size_t size) {
    size_t padded = (size + 511) / 512 * 512;
    if (tar->size + padded > tar->room) {
        tar->room = 2 * (tar->size + padded);
        tar->data = xrealloc(tar->data, tar->room);
    }
    memset(tar->data + tar->size, 0, padded);
    if (size)
        memcpy(tar->data + tar->size, bytes, size);
    tar->size += padded;
}

static void add_entry(KitTar *tar, KitEntry type, const char *path, const char *target,
                      const char *content, size_t size, unsigned mode) {
    char header[512] = "";
    snprintf(header, 100, "%s", path);
    snprintf(header + 100, 8, "%07o", mode);
    snprintf(header + 124, 12, "%011zo", size);
    snprintf(header + 136, 12, "%011o", 0);
    header[156] = (char)type;
    snprintf(header + 157, 100, "%s", target ? target : "");
    memcpy(header + 257, "ustar\00000", 8);
    memset(header + 148, ' ', 8);
    unsigned sum = 0;
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
    append(tar, header, sizeof header);
    append(tar, content, size);
}

void kit_tar_add(KitTar *tar, KitEntry type, const char *path, const char *target,
                 const char *content, size_t size) {
    add_entry(tar, type, path, target, content, size, 0644);
}

void kit_tar_add_mode(KitTar *tar, KitEntry type, const char *path, unsigned mode) {
    add_entry(tar, type, path, NULL, NULL, 0, mode);
}

void kit_tar_end(KitTar *tar) {
    static const char zeros[1024];
    append(tar, zeros, sizeof zeros);
}

void kit_tar_release(KitTar *tar) {
    free(tar->data);
    *tar = (KitTar){0};
}
