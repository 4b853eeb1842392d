// Files that matter by their path alone, whatever they contain.
#pragma once

#include <stdbool.h>

// It decides how the engine is built. Its commands run on volunteers' machines outside the engine.
bool path_decides_build(const char *path);
// It lies in a hidden folder. Such folders hold what other services run once the file is in a
// branch: .github/workflows.
bool path_is_hidden(const char *path);
