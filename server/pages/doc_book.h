// What a test's document says of its book, in sentences. `row` is one of page_test.
#pragma once

#include <jansson.h>

#include "server/pages/doc.h"

// How far the test is in its book, if that is worth a sentence, or null: it plays its openings
// again, or it ends when they are spent. New.
json_t *doc_book_note(const json_t *row);
// A warning if the test is expected to need more pairs than its book has openings, or null. `stats`
// has the expectation. New.
json_t *doc_book_warning(const json_t *row, const json_t *stats);
// The sentences that the reply to a submission carries: an array, empty if all is well. New.
json_t *doc_submission_warnings(const DocContext *ctx, int64_t test);
