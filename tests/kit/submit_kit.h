// An installation for tests of server/submit: the ledger kit's database, with a repository whose
// commits are those of its test 1, and people with roles.
#pragma once

#include "server/submit/caller.h"
#include "server/submit/submit.h"
#include "tests/kit/ledger_kit.h"

// ada (1) is a developer and the author of test 1, ben (2) a maintainer, cyd (3) has no role, dev
// (4) is another developer; 0 is not signed in.
enum { KIT_NOBODY = 0, KIT_AUTHOR = 1, KIT_MAINTAINER = 2, KIT_USER = 3, KIT_DEVELOPER = 4 };

typedef struct SubmitKit {
    LedgerKit ledger;
    char base[REPO_SHA_MAX], patched[REPO_SHA_MAX]; // of test 1; the base is the baseline
    Viewer viewer;
    Caller caller;
} SubmitKit;

bool submit_kit_open(SubmitKit *kit);
void submit_kit_close(SubmitKit *kit);
// For cmocka: *state is a SubmitKit that is open.
int submit_kit_set_up(void **state);
int submit_kit_tear_down(void **state);
// Who calls from now on. Returns &kit->caller.
const Caller *submit_kit_as(SubmitKit *kit, int64_t user);
// Submits fields (JSON) with a patch; the test's id, 0 with kit->ledger.err. A turn of its own.
int64_t submit_kit_submit(SubmitKit *kit, const char *fields, const char *patch);

// A patch that adds a file of one line.
#define SUBMIT_KIT_NEW(path, mode, line)                                                           \
    "diff --git a/" path " b/" path "\nnew file mode " mode "\n--- /dev/null\n+++ b/" path         \
    "\n@@ -0,0 +1 @@\n+" line "\n"
#define SUBMIT_KIT_ADDS(path, line) SUBMIT_KIT_NEW(path, "100644", line)
