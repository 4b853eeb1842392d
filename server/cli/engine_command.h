// `server engine …`: the operator moves source between an engine's repository and other places.
#pragma once

// argv[0] is "engine". Returns the exit status: 1 failed, 2 misused.
int command_engine(int argc, char **argv);
