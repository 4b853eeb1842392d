// Submitting a test: from the fields and the patch to a row of `tests`.
//
// submit_prepare() runs on a reader thread. It checks everything, and makes commits, snapshots and
// blobs to which nothing refers yet. submit_store() runs in the turn and makes them a test.
#pragma once

#include "server/submit/commits.h"

// A patch of 1 MB, percent-encoded or with JSON's escapes; a form may bring a net with it.
enum { SUBMIT_BODY_MAX = 3 << 20, SUBMIT_FORM_MAX = SUBMIT_BODY_MAX + NET_BYTES_MAX };

// NULL with an error that names the field. 429 `one_at_a_time` while the user has another in
// progress.
Submission *submit_prepare(const Caller *caller, SubmitInput input, Error *err);
// What submit_prepare() would say of it, all that is wrong at once: the problems are appended to
// `problems`, and the submission holds what was found. It is for reading while `problems` lives,
// and never stored; freeing it leaves nothing behind. NULL: the viewer may not submit, or the check
// cannot be made now.
Submission *submit_check(const Caller *caller, SubmitInput input, json_t *problems, Error *err);
// Inserts the rows, sets refs/tests/N, writes the event. Returns the test's id, 0 on error.
int64_t submit_store(const Caller *caller, Submission *submission, Error *err);

// Whether a test of these fields plays no opening twice: at fixed nodes or depth with one thread.
bool submit_repeats(const json_t *fields);
// The engine of that name. "" is enough if there is only one. False: 422.
bool submit_engine(Db *db, const char *name, SqlEngineById *out, Error *err);
// Whether a book of Chess960 openings, or one of standard openings, suits the fields' variant, and
// whether a book with so many openings lasts for a batch. 422 on the field `book`.
bool submit_book_suits(bool chess960, int64_t openings, const json_t *fields, Error *err);
