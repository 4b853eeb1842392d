// The commands of the `server` program, one function each: argv[0] is the command's own name. They
// print to stdout what was asked for and to stderr what went wrong, and return the exit status.
#pragma once

#include "server/common/error.h"
#include "server/db/db.h"

int command_init(int argc, char **argv);
int command_user(int argc, char **argv);
int command_book(int argc, char **argv);
int command_set(int argc, char **argv);
int command_backup(int argc, char **argv);
int command_check(int argc, char **argv);

// For them: says `err` on stderr; returns 1.
int command_failed(const Error *err);
// DATA's database for writing, also while a server runs on it. NULL: said on stderr.
Db *command_database(const char *data);
// A password from `file` (its first line; "-" is stdin), or where that is NULL a new one of 16
// characters. malloc'ed; NULL: said on stderr.
char *command_password(const char *file, bool *made);
