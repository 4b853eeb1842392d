// The class of a machine: instruction set, processor family and compiler, as machines describe
// themselves. The same source becomes another program on another class, or the program runs
// otherwise. Pure.
#pragma once

// "AMD Ryzen" of "AMD Ryzen 9 5950X". New.
char *machine_family(const char *cpu);
// The instruction set is `isa`, or `arch` if that is "". "": it is not known. New.
char *machine_class(const char *arch, const char *isa, const char *cpu, const char *compiler);
const char *machine_isa(const char *arch, const char *isa); // in words; borrowed
const char *machine_compiler(const char *compiler);         // in words; borrowed
