// The parts of the self-test, and the engines that they try. Private to selftest/.
#pragma once

#include "worker/selftest/table.h"

// ---- engines (engine.c)       ----------------------------------------------------------------

// One source file beside those of a folder.
typedef struct SelfTestSource {
    const char *folder; // NULL: none; else its source, two levels deep, and the net that it names
    const char *name, *text; // added; where the folder has one of that name, it is appended to it
    const char *command, *binary;
} SelfTestSource;

// Builds by the very way a task's engines go: snapshot, sandbox, store. `log` takes the compiler's
// words.
bool selftest_build(SelfTest *test, const SelfTestSource *source, Build *out, Str *log, Error *err);
// A C program that plays knights to and fro from the start position, or misbehaves as its first
// argument says; and one that looks around in its sandbox.
extern const char selftest_toy[], selftest_probe[];

// ---- parts --------------------------------------------------------------------------------------

void selftest_confinement(SelfTest *test); // confinement.c
void selftest_reach(SelfTest *test);       // reach.c
void selftest_match(SelfTest *test);       // play.c: two builds, then
void selftest_faults(SelfTest *test);      // engines that misbehave
