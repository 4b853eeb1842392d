// See inside.h. The assembler embeds the files with .incbin. Paths are relative to the root of the
// repository, where make runs.
#include "worker/os/inside.h"

#ifndef INSIDE_INIT
#define INSIDE_INIT "build/obj/worker/os/inside/init"
#endif

#define CARRY(name, path, more)                                                                    \
    __asm__(".pushsection .rodata, \"a\"\n.balign 16\n.globl " #name "\n" #name                    \
            ":\n.incbin \"" path "\"\n" more ".popsection\n")
#define NUL ".byte 0\n"

CARRY(
    os_inside_init, INSIDE_INIT,
    "1:\n.balign 8\n.globl os_inside_init_size\nos_inside_init_size:\n.quad 1b - os_inside_init\n");
CARRY(os_inside_probe, "worker/selftest/inside/probe.c", NUL);
CARRY(os_inside_level_2, "worker/selftest/inside/level_2", NUL);
CARRY(os_inside_level_1, "worker/selftest/inside/level_1", NUL);
