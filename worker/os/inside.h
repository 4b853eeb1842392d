// Files that are embedded in the worker: the program that is process 1 of a sandbox, and the
// programs that the self-test runs in a sandbox.
#pragma once

#include <stdint.h>

extern const char os_inside_init[]; // the program built from worker/os/inside/init.c
extern const uint64_t os_inside_init_size;

// Texts, with a NUL at the end: the files of that name in worker/selftest/inside.
extern const char os_inside_probe[];
extern const char os_inside_level_2[];
extern const char os_inside_level_1[];
