// What a submission makes before it is accepted. Objects of git stay in memory; files are written
// to a folder of their own, DATA/drafts/XXXXXX, from where they are moved to their places when the
// rows are written. So a submission that is refused leaves nothing, and no other submission can
// rely on what may yet be taken away.
#pragma once

#include <git2.h>

#include "server/common/error.h"
#include "server/common/hash.h"

enum { DRAFT_BYTES_MAX = 64 << 20 }; // of objects in memory

typedef struct Draft Draft;

// For data folder `data`.
Draft *draft_new(const char *data, Error *err);
// Removes what was not published.
void draft_free(Draft *draft);
// From now on what is written through `repo` stays in memory, where `repo` alone finds it. The
// draft must live as long as `repo`.
bool draft_take_git(Draft *draft, git_repository *repo, Error *err);
// Whether so much was written that the rest was refused.
bool draft_is_full(const Draft *draft);
// A blob, as blob_put().
bool draft_blob(Draft *draft, const void *bytes, size_t size, char sha[SHA256_HEX_MAX], Error *err);
// All is on disk when this returns, beside its place. On a reader thread.
bool draft_seal(Draft *draft, Error *err);
// Moves all to its place; on disk when it returns. In the turn, after everything that may refuse.
bool draft_publish(Draft *draft, Error *err);
// At start: removes what a server that was killed has left.
bool draft_sweep(const char *data, Error *err);
