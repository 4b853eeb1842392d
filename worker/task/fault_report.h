// A game that an engine lost by a fault, as a document for the people who wrote it: how it ended,
// its PGN, the last lines of both conversations and what was printed on standard error (API.md,
// `fault_report.request`).
#pragma once

#include <jansson.h>

#include "worker/match/game_record.h"
#include "worker/results/spool.h"
#include "worker/task/task.h"

enum { FAULT_REPORT_A_TASK = 10, FAULT_REPORT_JSON_MAX = 256 << 10 };

typedef struct FaultContext {
    const Task *task;
    const char *control[SIDE_COUNT]; // clocks, as scaled
} FaultContext;

// True if an engine lost the game by a fault.
bool fault_report_is_in(const GameRecord *game);
// New. Engine 0 is the first side; the document as JSON is at most FAULT_REPORT_JSON_MAX bytes.
json_t *fault_report_to_json(const GameRecord *game, const FaultContext *context);
// The item that is stored and sent, number `seq` of the task. New.
SpoolItem *fault_report_item(const GameRecord *game, const FaultContext *context, int seq);
