// The handlers of the worker protocol (server/API.md), a file a noun; routes_worker.c has the
// table. They translate between HTTP and the ledger and decide nothing themselves.
#pragma once

#include "server/http/handler.h"
#include "server/ledger/ledger.h"

enum { PROTOCOL_VERSION = 1 };

bool protocol_check(int64_t protocol, Error *err); // 426 `protocol_too_old`
bool number_check(const char *field, int64_t value, int64_t low, int64_t high, Error *err);

json_t *credit_json(Request *req); // of the worker who asks

Handler worker_register;                                                   // worker_register.c
Handler task_claim;                                                        // worker_claim.c
Handler games_prepare, games_apply;                                        // worker_games.c
Handler fault_report_prepare, fault_report_apply;                          // worker_fault_report.c
bool task_document(Request *req, Response *res, int64_t task, Error *err); // worker_task.c
