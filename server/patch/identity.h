// What a patch is, apart from its author, its message and the line numbers: the trees that it leads
// from and to, and its patch-ids. A patch-id is what git's own program prints, so that it can be
// found again at home:
//
//     git diff-tree -p --no-renames BASE COMMIT | git patch-id --stable
//
// It is a hash of the changed lines, of three lines around each change and of the names of the
// files, without any white space. With --verbatim, white space counts.
//
// Equal ids do not say that two patches do the same: "//" before a line and "// " on a line of its
// own differ in white space alone. Equal trees do. So ids serve to tell people about patches that
// they may have seen before, and decide nothing.
#pragma once

#include "server/git/repo.h"

enum {
    IDENTITY_DIFF_MAX = 4 << 20, // bytes of a diff
    IDENTITY_FILE_MAX = 4 << 20, // of a file that it changes
    IDENTITY_SECONDS_MAX = 10,   // for each run of git
    IDENTITY_MISSING_MAX = 300,
};

typedef struct PatchIdentity {
    char base_tree[REPO_SHA_MAX], tree[REPO_SHA_MAX];
    // "" if there are none. The reverse ones are those of the diff from `tree` to `base_tree`.
    char id[REPO_SHA_MAX], reverse[REPO_SHA_MAX];                // --stable
    char verbatim[REPO_SHA_MAX], verbatim_reverse[REPO_SHA_MAX]; // --verbatim
    char missing[IDENTITY_MISSING_MAX]; // in words, why there are none; "": there are, or no change
} PatchIdentity;

// Compares two commits, whose objects may still be in the memory of a draft. False: they cannot be
// read. Patches whose ids would say nothing about a part of them (a NUL byte ends a line for git
// patch-id, and binary contents are not in a diff) have none; neither have diffs over these limits,
// nor any patch while git fails or is too old for --verbatim (before 2.39). Any thread; seconds.
bool patch_identify(git_repository *repo, const char *base, const char *commit, PatchIdentity *out,
                    Error *err);
