// A commit that can be built: in git, its snapshot among the blobs, its row in `commits`, which
// also says what net it needs. In that order, so that no row ever names what is not on disk; a net
// may follow.
#pragma once

#include "server/db/db.h"
#include "server/git/draft.h"
#include "server/git/net_use.h"

typedef struct CommitRecord {
    CommitInfo info;
    char snapshot[65];
    size_t snapshot_size;
    NetUse net;
} CommitRecord;

// Reads the commit and stores its snapshot, in the draft where there is one. Any thread.
bool commit_prepare(git_repository *repo, const char *data, Draft *draft, const char *sha,
                    const NetRule *rule, CommitRecord *out, Error *err);
void commit_record_release(CommitRecord *record);
// Writes the rows unless they are there. `record->info.bench` becomes the commit's count: the
// caller sets it to 0 where the author of the message is not trusted with it.
bool commit_record(Db *db, int64_t engine_id, const CommitRecord *record, double now, Error *err);
