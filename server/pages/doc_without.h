// What a test's result hangs on: the same without some owners.
#pragma once

#include "server/pages/doc.h"

// {"largest", "author"}: what the result would be without the owner of the most counted units, and
// without the machines of the author, each null or {"user", "units", "points", "text"}. `user` is
// null for machines without an account, `units` are those left out. New.
json_t *doc_without(const DocContext *ctx, const json_t *row);
