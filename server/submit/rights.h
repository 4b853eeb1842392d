// Who may do what to a test, in one table: pages show buttons by it, and the functions behind the
// buttons refuse by it, with the same words.
//
// An action has three conditions. It fits the test's state, or pages do not offer it at all. The
// viewer has the role that it needs. Nothing else stands against it, such as a net that is missing.
// Each is a function that fills an Error if it does not hold.
//
// A page cannot know what happens after it is drawn. Only these refusals are not in the table:
// `changed` (the test was modified), `conflict` (another test was merged, or a commit was called
// harmful, between the two steps of a request), what the request itself says (a reason that is too
// long, `files_unseen`, `verdict_turned`), what can be seen only of the tree that a merge onto a
// new baseline makes (its size, its net), and a disk that is full.
#pragma once

#include "server/submit/caller.h"
#include "sql/git.h"
#include "sql/tests.h"

typedef enum {
    ACTION_APPROVE,
    ACTION_UPLOAD_NET,
    ACTION_PAUSE,
    ACTION_RESUME,
    ACTION_REOPEN, // a test whose verdict its batches no longer make
    ACTION_MODIFY,
    ACTION_DESCRIBE, // change title and description alone, which a finished test allows too
    ACTION_STOP,
    ACTION_HARMFUL, // stop as harmful
    ACTION_EXCLUDE,
    ACTION_INCLUDE,
    ACTION_READMIT, // a machine that does not fit its clock
    ACTION_BENCH,
    ACTION_MERGE,
    ACTION_UNDO, // the merge, until the next one
    ACTION_COUNT,
} Action;

// How documents call it, "approve"; NULL: no page has a button of its own for it.
const char *action_name(Action action);

// Whether pages offer the action for a test in this state. `row` is the test's of
// SQL_TEST_FOR_CHANGE.
bool right_fits(Action action, const Caller *caller, const SqlTestForChange *row, Error *err);
// Whether the viewer may do it: 401, 403, or 409 with the reason. Reads git if the base of the
// test matters, so it is for readers.
bool right_check(Action action, const Caller *caller, const SqlTestForChange *row, Error *err);
// The same without what git says (ground.h), and reads the test's row. False: the refusal, or 404.
// Any thread.
bool right_to(Action action, const Caller *caller, int64_t test, SqlTestForChange *row, Error *err);

// Whether the viewer could approve the test, whatever its state, without what git says.
bool right_approves(const Caller *caller, const SqlTestForChange *row, Error *err);

// Submitting tests of an engine, and uploading nets for it.
bool right_to_submit(const Caller *caller, const SqlEngineById *engine, Error *err);
// Uploading books for it.
bool right_to_add_book(const Caller *caller, const SqlEngineById *engine, Error *err);
// Answering requests for the role developer of it.
bool right_to_give_roles(const Caller *caller, int64_t engine_id, const char *engine, Error *err);
// Blocking, unblocking and re-testing machines, and vouching for their owners: maintainers of any
// engine, and admins.
bool right_to_block(const Caller *caller, Error *err);
bool right_to_vouch(const Caller *caller, Error *err);
