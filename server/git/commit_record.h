// A commit that can be built: the commit in git, and its row in `commits`, which also has the
// SHA-256 of its snapshot and says which net it needs. They are written in this order, so a row
// never refers to a commit that is not on disk. Only the net may come later.
#pragma once

#include "server/common/hash.h"
#include "server/db/db.h"
#include "server/git/draft.h"
#include "server/git/net_use.h"

typedef struct CommitRecord {
    CommitInfo info;
    char snapshot[SHA256_HEX_MAX];
    NetUse net;
} CommitRecord;

// Reads the commit and makes its snapshot, of which only the SHA-256 is kept. Without a draft, the
// objects of the commit are on disk when this returns. Any thread.
bool commit_prepare(git_repository *repo, const Draft *draft, const char *sha, const NetRule *rule,
                    CommitRecord *out, Error *err);
void commit_record_release(CommitRecord *record);
// Writes the rows unless they exist. `record->info.bench` becomes the bench count of its tree,
// unless that has one. The caller sets it to 0 if the author of the message is not trusted to state
// it.
bool commit_record(Db *db, int64_t engine_id, const CommitRecord *record, double now, Error *err);
