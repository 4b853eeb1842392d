// Landlock: the kernel restricts the files that a process and all its descendants may access. The
// functions use nothing but system calls, so that a child can call them between fork and exec, and
// the program that is process 1 of a sandbox can include them.
#pragma once

#include <stdbool.h>

// The first version in which files can be moved between folders, and the first that restricts
// signals to the sandbox.
enum { OS_LANDLOCK_REFER = 2, OS_LANDLOCK_SCOPES = 6 };

// The files that every program needs: folders with programs and libraries, texts, and harmless
// devices. NULL-terminated; a system may lack some.
extern const char *const os_system_programs[], *const os_system_texts[], *const os_system_devices[];

// Access to a folder or file, beyond those that every program needs.
typedef struct OsGrant {
    const char *path;
    bool writable;
} OsGrant;

// The version of this kernel; below 1: no Landlock, and errno says why.
int os_landlock_version(void);
// Restricts this process to the programs of the system, the files with facts about CPUs and memory,
// harmless devices, and `grants`, which end with one without a path. The process must have set
// PR_SET_NO_NEW_PRIVS. On false, errno says why.
bool os_landlock_enter(int version, const OsGrant *grants);
