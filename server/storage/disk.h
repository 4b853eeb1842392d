// The free space of the file system of DATA. ledger/disk_policy.h says what the server does if
// there is little.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// In bytes. `floor` is the space that must stay free; 0: none.
typedef struct Disk {
    int64_t free, total, floor;
} Disk;

// As `floor_mib`, and as the setting `disk_floor_mib`: the floor is 2 GiB or a twentieth of the
// file system, whichever is less.
enum { DISK_FLOOR_DEFAULT = -1 };

Disk disk_look(const char *data, int64_t floor_mib);
bool disk_is_short(const Disk *disk); // less than the floor is free
bool disk_is_low(const Disk *disk);   // less than twice the floor
