// The commands of the program `server`, one function each. argv[0] is the name of the command. A
// command prints its results to stdout and its errors to stderr, and returns the exit status.
#pragma once

#include "server/common/error.h"
#include "server/db/db.h"

int command_init(int argc, char **argv);
int command_user(int argc, char **argv);
int command_set(int argc, char **argv);
int command_backup(int argc, char **argv);
int command_check(int argc, char **argv);

// Prints `err` on stderr; returns 1.
int command_failed(const Error *err);
// Opens DATA's database for writing, even if a server runs on it. NULL: the error is on stderr.
Db *command_database(const char *data);
// Reads a password from `file` (its first line; "-" is stdin). If `file` is NULL, makes a password
// of 16 characters. malloc'ed; NULL: the error is on stderr.
char *command_password(const char *file, bool *made);
