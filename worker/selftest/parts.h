// The parts of the self-test, and the engines that they use. Private to selftest/.
#pragma once

#include "worker/selftest/table.h"

// ---- engines (engine.c) -------------------------------------------------------------------------

// The source of an engine: the files of a folder, and one more file.
typedef struct SelfTestSource {
    const char *folder;      // NULL: none; else its source files, two levels deep, and its net
    const char *name, *text; // the file; appended, if the folder has a file of that name
    const char *command, *binary;
} SelfTestSource;

// Builds as the engines of a task are built: snapshot, sandbox, store. `log` receives the output of
// the build.
bool selftest_build(SelfTest *test, const SelfTestSource *source, Build *out, Str *log, Error *err);
// The sources of two C programs: an engine that moves knights forth and back from the start
// position, or shows the fault that its first argument names; and a probe that reports what it can
// reach.
extern const char selftest_toy[], selftest_probe[];

// ---- parts --------------------------------------------------------------------------------------

void selftest_confinement(SelfTest *test); // confinement.c
void selftest_reach(SelfTest *test);       // reach.c
void selftest_match(SelfTest *test);       // play.c: a match between two builds
void selftest_faults(SelfTest *test);      // play.c: engines with faults
