// See commit_record.h.
#include "server/git/commit_record.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/utf8.h"
#include "server/git/snapshot.h"
#include "sql/git.h"

// Git stores text in any character set. The database and JSON need UTF-8.
static void clean(char **text) {
    char *utf8 = utf8_clean(*text, strlen(*text));
    free(*text);
    *text = utf8;
}

bool commit_prepare(git_repository *repo, const Draft *draft, const char *sha, const NetRule *rule,
                    CommitRecord *out, Error *err) {
    *out = (CommitRecord){0};
    if (!repo_commit_info(repo, sha, &out->info, err))
        return false;
    clean(&out->info.subject);
    clean(&out->info.author);
    clean(&out->info.message);
    return net_of_commit(repo, sha, rule, &out->net, err) &&
           snapshot_hash(repo, sha, out->snapshot, err) && (draft || repo_sync(repo, err));
}

void commit_record_release(CommitRecord *record) {
    repo_commit_info_release(&record->info);
}

bool commit_record(Db *db, int64_t engine_id, const CommitRecord *record, double now, Error *err) {
    const CommitInfo *info = &record->info;
    json_auto_t *list = net_files(&record->net);
    char *files scope(free_ptr) = json_dumps(list, JSON_COMPACT);
    return (!info->bench || sql_tree_note(db, err, .engine = engine_id,
                                          .snapshot = record->snapshot, .bench = info->bench)) &&
           sql_commit_note(db, err, .engine = engine_id, .sha = info->sha,
                           .snapshot = record->snapshot, .subject = info->subject,
                           .author = info->author, .created = now, .net = record->net.sha,
                           .files = files);
}
