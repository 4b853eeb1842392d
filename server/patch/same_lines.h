// Whether two changes are the same to a person who read one of them: the same files, and in each
// the same removed and added lines, byte for byte. An approval of the one may then cover the other.
// No patch-id decides this: by git's, a comment that becomes code can be the same change.
#pragma once

#include <git2.h>
#include <stdbool.h>

#include "server/common/error.h"

typedef struct CommitRange {
    const char *base, *commit;
} CommitRange;

// True if `again` does what `seen` does and touches only lines of plain files: no file that decides
// the build, hidden folder, mode, binary file, or file at `net_file`. Else `why` says in a sentence
// what stands against it. For readers.
enum { SAME_WHY_MAX = 400 };
bool patch_same_lines(git_repository *repo, CommitRange seen, CommitRange again,
                      const char *net_file, char why[SAME_WHY_MAX]);
