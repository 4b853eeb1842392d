// See book_command.h.
#include "server/cli/book_command.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/cli.h"
#include "server/common/clock.h"
#include "server/common/installed.h"
#include "server/common/str.h"
#include "server/storage/book_install.h"
#include "sql/core.h"
#include "sql/git.h"
#include "sql/worker.h"

// "some/folder/8moves.epd" is the book "8moves".
bool book_add_file(Db *db, const char *data, int64_t engine, const char *path, Error *err) {
    const char *slash = strrchr(path, '/');
    char *name scope(free_ptr) = xstrdup(slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = 0;
    return book_install(db, data, engine, path, name, time_now(), err) != 0;
}

bool book_add_own(Db *db, const char *data, int64_t engine, Error *err) {
    char *folder scope(free_ptr) = installed_folder("books", "server/books");
    char *pattern scope(free_ptr) = xasprintf("%s/*.walks", folder ? folder : "/nowhere");
    glob_t found scope(globfree) = {0};
    if (!folder || glob(pattern, 0, NULL, &found))
        return error_set(err, 404, "no_book",
                         "the default book was not installed with this program; name a book");
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!book_add_file(db, data, engine, found.gl_pathv[i], err))
            return false;
    return true;
}

// ---- the commands -------------------------------------------------------------------------------

static int64_t engine_of(Db *db, const char *name, Error *err) {
    int64_t engine = sql_engine_of_name(db, 0, name);
    if (!engine)
        error_set(err, 404, "no_such_engine", "there is no engine %s", name);
    return engine;
}

static bool book_add(Db *db, const char *data, char **words, int count, Error *err) {
    (void)count;
    int64_t engine = engine_of(db, words[0], err);
    return engine && book_install(db, data, engine, words[2], words[1], time_now(), err) != 0;
}

static bool book_make(Db *db, const char *data, char **words, int count, Error *err) {
    int64_t engine = count ? engine_of(db, words[0], err) : sql_engine_first(db, 0);
    return engine && book_add_own(db, data, engine, err);
}

static bool book_list(Db *db, const char *data, char **words, int count, Error *err) {
    (void)data, (void)words, (void)count, (void)err;
    for (SqlBooksListRows books = sql_books_list(db); sql_books_list_next(&books);)
        printf("%s %s: %" PRId64 " openings%s\n", books.row.engine, books.row.name,
               books.row.openings, books.row.chess960 ? ", Chess960" : "");
    return true;
}

static const struct Verb {
    const char *name;
    int least, most; // words after DATA
    bool (*run)(Db *db, const char *data, char **words, int count, Error *err);
} verbs[] = {
    {"add", 3, 3, book_add},
    {"make", 0, 1, book_make},
    {"list", 0, 0, book_list},
};

static const struct Verb *find_verb(const char *name, int words) {
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(verbs[i].name, name) && words >= verbs[i].least && words <= verbs[i].most)
            return &verbs[i];
    return NULL;
}

// book VERB DATA WORDS…
int command_book(int argc, char **argv) {
    Error err = {0};
    const struct Verb *verb = argc >= 3 ? find_verb(argv[1], argc - 3) : NULL;
    if (!verb)
        return 2;
    Db *db = command_database(argv[2]);
    if (!db)
        return 1;
    bool good = db_begin(db, &err) && verb->run(db, argv[2], argv + 3, argc - 3, &err);
    if (good)
        good = db_commit(db, &err);
    else
        db_rollback(db);
    db_close(db);
    return good ? 0 : command_failed(&err);
}
