// The memory of ideas: which tests of an engine change the same as another one. Every run of an
// SPRT accepts a worthless patch with the probability alpha, so who tries one idea often enough has
// it accepted. This is advice for authors, approvers and maintainers, and decides nothing: an
// author who changes a line or a name of the patch gets another patch-id (patch/identity.h).
//
// Tests are public, so these lists are for all who ask.
#pragma once

#include <jansson.h>

#include "server/db/db.h"
#include "server/patch/identity.h"

// The tests of one list. Those that a maintainer approved or called harmful come first, so that
// others cannot push them out.
enum { IDEAS_LISTED_MAX = 50 };

// What an approver, an author and a maintainer should know of earlier and later tests of the same
// idea: the member `seen_before` of a test's document, as API.md describes it. New.
json_t *ideas_of_test(Db *db, int64_t test);
// The same for a test that is not submitted: what it would change (patch_identify()), and its
// complete and checked fields. New. Any thread; some index lookups.
json_t *ideas_of_fields(Db *db, int64_t engine, const PatchIdentity *identity,
                        const json_t *fields);
// Keeps what a new test changes. In the turn.
bool ideas_store(Db *db, int64_t test, int64_t engine, const PatchIdentity *identity, Error *err);
