// See book_command.h. A book is read and checked outside a transaction, which may take seconds: a
// server that runs goes on writing meanwhile.
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

// "some/folder/8moves.epd" is the book "8moves". New.
static char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = xstrdup(slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = 0;
    return name;
}

static bool note(Db *db, const char *message, double now, Error *err) {
    return sql_event_add(db, err, .type = "book", .user = 0, .worker = 0, .test = 0,
                         .message = message, .created = now);
}

// The row and its event, in one transaction.
static bool store(Db *db, int64_t engine, const NewBook *book, const char *message, Error *err) {
    double now = time_now();
    if (!db_begin(db, err))
        return false;
    if (book_store(db, engine, book, 0, now, err) && note(db, message, now, err) &&
        db_commit(db, err))
        return true;
    db_rollback(db);
    return false;
}

bool book_add_file(Db *db, const char *data, int64_t engine, const char *path, Error *err) {
    NewBook book;
    char *name scope(free_ptr) = name_of(path);
    return book_name_check(db, engine, name, err) &&
           book_prepare_file(data, path, name, "", &book, err) &&
           book_store(db, engine, &book, 0, time_now(), err) != 0;
}

static char *own_file(Error *err) {
    char *folder scope(free_ptr) = installed_folder("books", "server/books");
    char *pattern scope(free_ptr) = xasprintf("%s/*.walks", folder ? folder : "/nowhere");
    glob_t found scope(globfree) = {0};
    if (folder && !glob(pattern, 0, NULL, &found))
        return xstrdup(found.gl_pathv[0]);
    error_set(err, 404, "no_book",
              "the default book was not installed with this program; name a book");
    return NULL;
}

bool book_add_own(Db *db, const char *data, int64_t engine, Error *err) {
    char *path scope(free_ptr) = own_file(err);
    return path && book_add_file(db, data, engine, path, err);
}

// ---- the commands -------------------------------------------------------------------------------

typedef struct BookJob {
    Db *db;
    const char *data;
    char **words; // after DATA
    int count;
} BookJob;

// NULL: the first engine, which `server init` made.
static bool find_engine(const BookJob *job, const char *name, SqlEngineById *out, Error *err) {
    int64_t id = name ? sql_engine_of_name(job->db, 0, name) : sql_engine_first(job->db, 0);
    return sql_engine_by_id(job->db, out, id) ||
           error_set(err, 404, "no_such_engine", "there is no engine %s", name ? name : "");
}

static bool keep(const BookJob *job, const SqlEngineById *engine, const NewBook *book, Error *err) {
    char *words scope(free_ptr) = book_words(book, engine->name);
    if (!store(job->db, engine->id, book, words, err))
        return false;
    puts(words);
    return true;
}

static bool book_add(const BookJob *job, Error *err) {
    NewBook book;
    SqlEngineById engine scope(sql_row_free) = {0};
    const char *name = job->words[1], *variant = job->count > 3 ? job->words[3] : "";
    return find_engine(job, job->words[0], &engine, err) &&
           book_name_check(job->db, engine.id, name, err) &&
           book_prepare_file(job->data, job->words[2], name, variant, &book, err) &&
           keep(job, &engine, &book, err);
}

// The same bytes are the same book: to make it twice changes nothing.
static bool book_make(const BookJob *job, Error *err) {
    NewBook book;
    SqlEngineById engine scope(sql_row_free) = {0};
    char *path scope(free_ptr) = own_file(err);
    char *own_name scope(free_ptr) = path ? name_of(path) : NULL;
    const char *name = job->count > 1 ? job->words[1] : own_name;
    if (!path || !find_engine(job, job->count ? job->words[0] : NULL, &engine, err) ||
        !book_prepare_file(job->data, path, name, "", &book, err))
        return false;
    char *known scope(free_ptr) =
        sql_book_of_blob(job->db, .engine = engine.id, .sha256 = book.sha);
    if (!known)
        return keep(job, &engine, &book, err);
    printf("%s has this book already: %s\n", engine.name, known);
    return true;
}

static bool book_list(const BookJob *job, Error *err) {
    (void)err;
    for (SqlBooksListRows books = sql_books_list(job->db); sql_books_list_next(&books);)
        printf("%s %s: %" PRId64 " openings%s\n", books.row.engine, books.row.name,
               books.row.openings, books.row.chess960 ? ", Chess960" : "");
    return true;
}

static const struct Verb {
    const char *name;
    int least, most; // words after DATA
    bool (*run)(const BookJob *job, Error *err);
} verbs[] = {
    {"add", 3, 4, book_add},
    {"make", 0, 2, book_make},
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
    BookJob job = {command_database(argv[2]), argv[2], argv + 3, argc - 3};
    if (!job.db)
        return 1;
    bool good = verb->run(&job, &err);
    db_close(job.db);
    return good ? 0 : command_failed(&err);
}
