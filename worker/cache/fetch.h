// Blobs from the server, by SHA-256: kept once verified, resumed where a download broke off.
#pragma once

#include <stdint.h>

#include "worker/api/api.h"
#include "worker/cache/store.h"

enum { FETCH_SNAPSHOT_MAX = 1 << 30, FETCH_FILE_MAX = 64 << 20 };

// After API_OK the blob is at store_blob(). Waits while the server is away. Refuses a blob of more
// than `max_bytes`.
ApiOutcome fetch_blob(Api *api, const Store *store, const char *sha256, int64_t max_bytes,
                      Error *err);
