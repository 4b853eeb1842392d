// Checks and parts of replies that several calls of the worker protocol share.
#pragma once

#include "server/http/handler.h"

enum { PROTOCOL_VERSION = 1 };

bool protocol_check(int64_t protocol, Error *err); // 426 `protocol_too_old`
bool number_check(const char *field, int64_t value, int64_t low, int64_t high, Error *err);
json_t *credit_json(Request *req); // of the machine that sent the request
