// Blobs from the server, by SHA-256: kept once verified, resumed where a download broke off.
#pragma once

#include <stdint.h>

#include "api.h"
#include "store.h"

enum { BLOB_MAX = 1 << 30 };

// After API_OK the blob lies at store_blob(). Waits out a server that is away.
ApiOutcome fetch_blob(Api *api, const Store *store, const char *sha256, Error *err);
