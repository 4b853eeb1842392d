// `server engine …`: commands for the repository of an engine.
#pragma once

// argv[0] is "engine". Returns the exit status: 1 for a failure, 2 for wrong arguments.
int command_engine(int argc, char **argv);
