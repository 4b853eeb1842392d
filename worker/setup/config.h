// The options of the command line.
#pragma once

#include <stdbool.h>

#include "server/common/error.h"

enum { CACHE_MIB = 4096 };

typedef struct Config {
    char *server; // base URL without a final slash
    char *name;   // of this machine
    char *token;  // user's token; NULL: none
    char *token_file;
    char *cache;     // the folder for everything that the worker keeps
    int concurrency; // CPUs for games; 0: chosen from the machine
    int memory_mib;  // 0: chosen from the machine
    int cache_mib;   // limit of the size of builds and downloads together
    int nice;
    int sandbox_max; // see sandbox.h
    int build_s;     // time limit of a build and of a bench; 0: the default
    bool no_sandbox, once, fleet, verbose, self_test;
} Config;

typedef enum { CONFIG_RUN, CONFIG_SELF_TEST, CONFIG_HELP, CONFIG_VERSION } ConfigAction;

// False with a message for the volunteer if the command line is wrong. The caller releases `config`
// in both cases.
bool config_read(Config *config, ConfigAction *action, int argc, char **argv, Error *err);
void config_release(Config *config);
void config_print_help(void);
