// `server book …`, and the books that `server init` installs.
#pragma once

#include "server/db/db.h"

// argv[0] is "book". Returns the exit status: 1 for a failure, 2 for wrong arguments.
int command_book(int argc, char **argv);

// Adds the file as a book with the name of the file, for `server init`: inside its transaction.
bool book_add_file(Db *db, const char *data, int64_t engine, const char *path, Error *err);
// Adds the book that was installed with this program.
bool book_add_own(Db *db, const char *data, int64_t engine, Error *err);
