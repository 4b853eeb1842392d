// A game that an engine lost by a fault, as a document for the people who wrote it: how it ended,
// its PGN, the last lines of both conversations and what was printed on standard error (API.md,
// `evidence.request`).
#pragma once

#include <jansson.h>

#include "worker/match/match.h"
#include "worker/results/spool.h"
#include "worker/task/task.h"

enum { EVIDENCE_A_TASK = 10, EVIDENCE_MAX = 256 << 10 };

typedef struct EvidenceContext {
    const Task *task;
    const char *control[SIDE_COUNT]; // clocks, as scaled
} EvidenceContext;

// Whether the game shows a fault of an engine.
bool evidence_is_in(const GameRecord *game);
// New. Engine 0 is the new side; the document as JSON is at most EVIDENCE_MAX bytes.
json_t *evidence_to_json(const GameRecord *game, const EvidenceContext *context);
// As it is kept and sent, number `seq` of the task. New.
SpoolItem *evidence_item(const GameRecord *game, const EvidenceContext *context, int seq);
