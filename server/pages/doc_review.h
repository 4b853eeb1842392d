// What a person should know of a change before it runs on other people's machines: its files, its
// history and its conditions, in sentences that name the file or the value.
#pragma once

#include "server/pages/doc.h"
#include "server/submit/submission.h"

// Of a test that waits for its approval: `row` is one of page_test. Empty for any other. New.
json_t *doc_review_of_test(const DocContext *ctx, const json_t *row);
// Of a submission that applies, with its document of patch_test_document(). New.
json_t *doc_review_of_submission(const DocContext *ctx, const Submission *s, const json_t *diff);
