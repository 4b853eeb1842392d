// A submission on its way to a test: what submit.c has found and made, between the reader thread
// that prepares it and the turn that stores it.
#pragma once

#include <jansson.h>

#include "server/git/commit_record.h"
#include "server/git/draft.h"
#include "server/patch/identity.h"
#include "server/submit/ground.h"
#include "server/submit/net_upload.h"
#include "sql/git.h"

typedef struct Submission {
    json_t *fields;
    SqlEngineById engine;
    int64_t book_id;
    git_repository *repo;
    Draft *draft;      // what it makes until it is stored; NULL: git and blobs are written at once
    int64_t submitter; // the user who has no other submission meanwhile; 0: none is counted
    char base[REPO_SHA_MAX], new[REPO_SHA_MAX];
    CommitRecord base_record, new_record; // without a snapshot if the row is there already
    PatchIdentity identity;
    NetUpload net;             // that came with the form; size 0: none
    int64_t bench, base_bench; // declared; 0: not
    int64_t author_id;         // 0: the viewer
    int64_t retest_of;         // 0: a new test
    int64_t bytes;             // that it writes to the disk; 0: they are not counted
    Ground ground;
} Submission;

void submission_free(void *submission); // fits Request.state_free
// Its submitter may send the next one.
void submission_end(Submission *submission);
