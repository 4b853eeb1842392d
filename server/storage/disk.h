// How much room the file system of DATA has left. What follows where it is little: ledger/disk_policy.h.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// In bytes. `floor`: what is to stay free; 0: nothing.
typedef struct Disk {
    int64_t free, total, floor;
} Disk;

// A floor of the lesser of 2 GiB and a twentieth of the file system.
enum { DISK_FLOOR_DEFAULT = -1 };

Disk disk_look(const char *data, int64_t floor_mib);
bool disk_is_short(const Disk *disk); // less than the floor is free
bool disk_is_low(const Disk *disk);   // less than twice the floor
