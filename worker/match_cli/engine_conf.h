// Reads an engine from an engines.json of cutechess: a list of objects with name, command,
// workingDirectory, stderrFile, arguments, initStrings, options, restart.
#pragma once

#include "worker/match_cli/args_table.h"

enum { ENGINE_CONF_MAX = 4 << 20 };

// Fills `engine` with the values of the engine called `name`; later words of the command line may
// replace them.
bool engine_conf_read(MatchArgs *args, EngineArgs *engine, const char *file, const char *name,
                      Error *err);
// The same with the text of the file.
bool engine_conf_parse(MatchArgs *args, EngineArgs *engine, const char *text, size_t size,
                       const char *name, Error *err);
