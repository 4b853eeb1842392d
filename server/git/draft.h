// The objects of git that a submission makes, before it is accepted. They stay in memory. Then they
// are written to a folder of their own, DATA/drafts/XXXXXX, and moved to their places when the rows
// are written. So a refused submission leaves nothing on disk, and no other submission can depend
// on data that may still be removed.
#pragma once

#include <git2.h>
#include <stdint.h>

#include "server/common/error.h"

enum { DRAFT_BYTES_MAX = 64 << 20 }; // of objects in memory

typedef struct Draft Draft;

// For data folder `data`.
Draft *draft_new(const char *data, Error *err);
// Removes the objects that were not published.
void draft_free(Draft *draft);
// From now on, objects written through `repo` stay in memory, and only `repo` finds them. The draft
// must live as long as `repo`.
bool draft_take_git(Draft *draft, git_repository *repo, Error *err);
// Whether the memory for objects is full, so that further objects were refused.
bool draft_is_full(const Draft *draft);
// The space that its files take on the disk, in whole blocks. After draft_seal().
int64_t draft_bytes(const Draft *draft);
// When this returns, all files are on disk beside their places. On a reader thread.
bool draft_seal(Draft *draft, Error *err);
// Moves all files to their places; they are on disk when it returns. In the turn, after every check
// that may refuse the submission.
bool draft_publish(Draft *draft, Error *err);
// At start: removes the drafts of a server that was killed.
bool draft_sweep(const char *data, Error *err);
