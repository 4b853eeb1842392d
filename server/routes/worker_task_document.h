// A task as its worker gets it: all that the machine needs to know, and where the rest lies. See
// server/API.md for the shape.
#pragma once

#include "server/http/handler.h"

bool task_document(Request *req, Response *res, int64_t task, Error *err);
