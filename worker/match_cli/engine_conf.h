// An engine from an engines.json as cutechess keeps it: a list of objects with name, command,
// workingDirectory, stderrFile, arguments, initStrings, options, restart.
#pragma once

#include "worker/match_cli/args_table.h"

enum { ENGINE_CONF_MAX = 4 << 20 };

// Fills what the file says of the engine called `name`; later words may change it. False: `err`.
bool engine_conf_read(MatchArgs *args, EngineArgs *engine, const char *file, const char *name,
                      Error *err);
// The same from the file's text.
bool engine_conf_parse(MatchArgs *args, EngineArgs *engine, const char *text, size_t size,
                       const char *name, Error *err);
