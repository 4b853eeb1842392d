// The document of a check, see API.md.
#pragma once

#include "server/pages/doc.h"
#include "server/submit/submission.h"

// What a submission would be refused for (`problems`), what it changes and what its test would
// cost: from submit_check(). `submission` NULL: its fields cannot be read. New; NULL: git cannot be
// read.
json_t *doc_check(const DocContext *ctx, const Submission *submission, const json_t *problems,
                  Error *err);
