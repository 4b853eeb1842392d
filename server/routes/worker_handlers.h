// The handlers of the worker protocol (server/API.md). worker.c has their table. They translate
// between HTTP and the ledger; the ledger decides.
#pragma once

#include "server/http/handler.h"

struct Batch;

Handler worker_register;                          // worker_register.c
Handler task_claim;                               // worker_claim.c
Handler games_prepare, games_apply;               // worker_games.c
Handler fault_report_prepare, fault_report_apply; // worker_fault.c
Handler ending_prepare, ending_apply;             // worker_ending.c

// Reads the body of POST tasks/T/batches. 422 `bad_request`.
bool batch_read(Request *req, struct Batch *batch, Error *err);
