// A commit that can be built: the commit in git, its snapshot among the blobs, and its row in
// `commits`, which also says which net it needs. They are written in this order, so a row never
// refers to data that is not on disk. Only the net may come later.
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

// Reads the commit and stores its snapshot, in the draft if there is one. Any thread.
bool commit_prepare(git_repository *repo, const char *data, Draft *draft, const char *sha,
                    const NetRule *rule, CommitRecord *out, Error *err);
void commit_record_release(CommitRecord *record);
// Writes the rows unless they exist. `record->info.bench` becomes the commit's bench count. The
// caller sets it to 0 if the author of the message is not trusted to state it.
bool commit_record(Db *db, int64_t engine_id, const CommitRecord *record, double now, Error *err);
