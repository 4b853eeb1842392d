// The callers that may use a route: the column `access` of its row, checked before a handler runs.
#pragma once

#include "server/accounts/viewer.h"
#include "server/http/handler.h"

bool access_is_worker(Access access);
// False: 401 if another viewer might be allowed, 403 if this viewer is not.
bool access_check(const Viewer *viewer, Access access, Error *err);
