// See disk.h.
#include "server/storage/disk.h"

#include <sys/statvfs.h>

enum { FLOOR_MOST_MIB = 2048, FLOOR_SHARE = 20 };
static const int64_t mib = 1 << 20;

static int64_t floor_of(int64_t total, int64_t floor_mib) {
    if (floor_mib != DISK_FLOOR_DEFAULT)
        return floor_mib * mib;
    int64_t share = total / FLOOR_SHARE, most = FLOOR_MOST_MIB * mib;
    return share < most ? share : most;
}

// If the file system does not report its size, it counts as having enough space.
Disk disk_look(const char *data, int64_t floor_mib) {
    struct statvfs fs;
    if (statvfs(data, &fs) < 0 || !fs.f_blocks)
        return (Disk){0};
    int64_t total = (int64_t)(fs.f_blocks * fs.f_frsize);
    return (Disk){(int64_t)(fs.f_bavail * fs.f_frsize), total, floor_of(total, floor_mib)};
}

bool disk_is_short(const Disk *disk) {
    return disk->free < disk->floor;
}

bool disk_is_low(const Disk *disk) {
    return disk->free < 2 * disk->floor;
}
