// Files that the worker carries in itself: the program that is process 1 of a sandbox, and what the
// self-test tries in one.
#pragma once

#include <stdint.h>

extern const char os_inside_init[]; // of worker/inside/init.c, as built
extern const uint64_t os_inside_init_size;

// Texts, with a NUL at the end.
extern const char os_inside_probe[];   // worker/selftest/probe.c
extern const char os_inside_level_2[]; // worker/selftest/level_2, as there
extern const char os_inside_level_1[];
