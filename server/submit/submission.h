// A submission on its way to a test: what submit.c has found and made, between the reader thread
// that prepares it and the turn that stores it. A check takes the same way up to the turn; what a
// submission would be refused for becomes a list.
#pragma once

#include <jansson.h>

#include "server/git/commit_record.h"
#include "server/git/draft.h"
#include "server/patch/identity.h"
#include "server/submit/ground.h"
#include "server/submit/net_upload.h"
#include "sql/git.h"

// A patch that arrived as a file, whose bytes are taken as they are, beside the field `patch`.
// bytes NULL: none.
typedef struct PatchBytes {
    const char *bytes;
    size_t size;
} PatchBytes;

// What arrived.
typedef struct SubmitInput {
    json_t *fields;   // as submit_fields_of_json() gives them; stolen
    PatchBytes patch; // borrowed, as is the file of the net
    NetFile net;
} SubmitInput;

typedef struct Submission {
    SubmitInput input;
    json_t
        *problems; // borrowed: what a check found wrong, [{"code", "field", "message"}]; else NULL
    bool is_complete; // the fields are good, have their defaults and agree
    json_t *fields;
    SqlEngineById engine;
    int64_t book_id, openings; // of the book
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
// After an error: whether the submission goes on, because it is a check. Then the error is among
// its problems.
bool submission_goes_on(Submission *submission, const Error *err);
// Adds an error to a list of problems. False: it says nothing of the test, but that the check
// itself is refused or cannot be made (401, 403, 429, 5xx).
bool submission_problem(json_t *problems, const Error *err);
// Its submitter may send the next one.
void submission_end(Submission *submission);
