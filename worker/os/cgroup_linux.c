// Control groups on Linux, versions 1 and 2: reads the limits of a process from its group and all
// groups above it. It neither makes nor changes a group.
#include "worker/os/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/str.h"

enum { VALUE_MAX = 128, GROUPS_MAX = 1 << 16 };

// Version 1 writes "no limit" as the largest multiple of the page size. No machine has so much
// memory.
static const double no_memory_limit = 1LL << 60;

// Reads the first line of FOLDER/name. False: there is no such file.
static bool read_value(const char *folder, const char *name, char out[VALUE_MAX]) {
    Error ignored;
    char *path scope(free_ptr) = xasprintf("%s/%s", folder, name);
    char *text scope(free_ptr) = file_read(path, VALUE_MAX - 1, NULL, &ignored);
    if (text)
        snprintf(out, VALUE_MAX, "%.*s", (int)strcspn(text, "\n"), text);
    return text != NULL;
}

static void lower(double *limit, double value) {
    if (value > 0 && (*limit <= 0 || value < *limit))
        *limit = value;
}

// "200000 100000", or "max 100000".
static void read_cpu_max(const char *folder, CgroupLimits *out) {
    char text[VALUE_MAX];
    double quota, period;
    if (read_value(folder, "cpu.max", text) && sscanf(text, "%lf %lf", &quota, &period) == 2 &&
        period > 0)
        lower(&out->cpus, quota / period);
}

static void read_cfs_quota(const char *folder, CgroupLimits *out) {
    char quota[VALUE_MAX], period[VALUE_MAX];
    if (read_value(folder, "cpu.cfs_quota_us", quota) &&
        read_value(folder, "cpu.cfs_period_us", period) && strtod(period, NULL) > 0)
        lower(&out->cpus, strtod(quota, NULL) / strtod(period, NULL)); // -1: none
}

static void read_memory(const char *folder, const char *name, CgroupLimits *out) {
    char text[VALUE_MAX];
    double bytes = read_value(folder, name, text) ? strtod(text, NULL) : 0; // "max" reads as 0
    if (bytes < no_memory_limit)
        lower(&out->memory_bytes, bytes);
}

static void read_unified(const char *folder, CgroupLimits *out) {
    read_cpu_max(folder, out);
    read_memory(folder, "memory.max", out);
}

static void read_v1_memory(const char *folder, CgroupLimits *out) {
    read_memory(folder, "memory.limit_in_bytes", out);
}

// Reads the limits of the group and of all groups above it. Inside a container the path may name a
// folder that exists on the host only. Then the group of the container is mounted at the top.
static void walk_up(const char *mount, const char *path,
                    void (*read)(const char *folder, CgroupLimits *out), CgroupLimits *out) {
    char *group scope(free_ptr) = xasprintf("%s%s", mount, path);
    size_t top = strlen(mount);
    for (;;) {
        read(group, out);
        char *slash = strrchr(group, '/');
        if (!slash || (size_t)(slash - group) < top)
            return;
        *slash = 0;
    }
}

static bool lists(const char *controllers, const char *name) {
    size_t size = strlen(name);
    for (const char *at = controllers; (at = strstr(at, name)); at += size)
        if ((at == controllers || at[-1] == ',') && (at[size] == ',' || !at[size]))
            return true;
    return false;
}

// Reads the limits for one line of /proc/self/cgroup: "ID:CONTROLLERS:PATH". Version 2 has ID 0 and
// no controllers. If both versions are mounted, version 2 is in a folder of its own.
static void read_group(const char *root, const char *controllers, const char *path,
                       CgroupLimits *out) {
    char *mount scope(free_ptr) = xasprintf("%s/%s", root, controllers);
    if (lists(controllers, "cpu"))
        walk_up(mount, path, read_cfs_quota, out);
    if (lists(controllers, "memory"))
        walk_up(mount, path, read_v1_memory, out);
    if (*controllers)
        return;
    char *unified scope(free_ptr) = xasprintf("%s/unified", root);
    walk_up(root, path, read_unified, out);
    walk_up(unified, path, read_unified, out);
}

void os_cgroup_limits(const char *groups, const char *root, CgroupLimits *out) {
    Error ignored;
    char *text scope(free_ptr) = file_read(groups, GROUPS_MAX, NULL, &ignored);
    *out = (CgroupLimits){0};
    char *rest = text;
    for (char *line; text && (line = strsep(&rest, "\n"));) {
        const char *id = strsep(&line, ":");
        const char *controllers = strsep(&line, ":");
        if (id && controllers && line && *line == '/')
            read_group(root, controllers, line, out);
    }
}
