// Files of a recipe (nets) laid into a tree of sources before it is built, and beside the engine
// that is kept of it.
#pragma once

#include "server/common/error.h"
#include "worker/build/recipe.h"
#include "worker/cache/store.h"

// Each file is made by its path below `tree`, which must be free of links; one that lies there with
// the same bytes will do, one with others is never replaced. The blobs must have been fetched.
// BUILD_FAILED: something is in the way; BUILD_BROKEN: this machine's fault.
BuildOutcome place_files(const Store *store, const TaskFiles *files, const char *tree, Error *err);
