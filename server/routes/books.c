// The routes that upload a book: the form of the page /books, and the call of the API. A book is
// read and checked on a reader, which may take seconds, and becomes a row in the turn.
#include <stdlib.h>
#include <string.h>

#include "server/ledger/ledger.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "server/routes/submitted.h"
#include "server/storage/book_install.h"
#include "server/submit/rights.h"
#include "server/submit/submit.h"

enum { BOOK_BODY_MAX = BOOK_UPLOAD_MAX + (1 << 20) }; // a form around the file

static const char form_template[] = "books";

typedef struct Upload {
    SqlEngineById engine;
    NewBook book;
} Upload;

static void upload_free(void *pointer) {
    Upload *upload = pointer;
    sql_row_free(&upload->engine);
    free(upload);
}

// The fields of a form, or else of the query.
static const char *field(const Request *req, const char *name) {
    const char *text = request_form(req, name, NULL);
    text = text ? text : request_query(req, name);
    return text ? text : "";
}

static bool take_file(const Request *req, const char **bytes, size_t *size, Error *err) {
    *bytes = request_form(req, "book", size);
    if (!*bytes && !submitted_is_form(req))
        *bytes = req->body, *size = req->body_size;
    if (*bytes && *size > BOOK_UPLOAD_MAX)
        return error_field(err, 413, "too_large", "book", "book: a file has at most %d MiB",
                           BOOK_UPLOAD_MAX >> 20);
    return (*bytes && *size) || error_field(err, 422, "missing_field", "book",
                                            "book: choose a file of openings, EPD or PGN");
}

static bool read_book(Request *req, Upload *upload, Error *err) {
    const char *bytes, *name = field(req, "name"), *variant = field(req, "variant");
    size_t size;
    if (!take_file(req, &bytes, &size, err) ||
        !book_name_check(req->turn->db, upload->engine.id, name, err))
        return false;
    if (book_prepare(req->site->data, bytes, size, name, variant, &upload->book, err))
        return true;
    if (!*err->field)
        snprintf(err->field, sizeof err->field, "book");
    return false;
}

static bool upload_prepare(Request *req, Response *res, Error *err) {
    Upload *upload = xcalloc(1, sizeof *upload);
    res->form = form_template;
    req->state = upload;
    req->state_free = upload_free;
    Caller caller = submitted_caller(req);
    return submit_engine(req->turn->db, field(req, "engine"), &upload->engine, err) &&
           right_to_add_book(&caller, &upload->engine, err) && respond_disk_check(req, res, err) &&
           read_book(req, upload, err);
}

static bool upload_apply(Request *req, Response *res, Error *err) {
    const Upload *upload = req->state;
    const NewBook *book = &upload->book;
    res->form = form_template;
    int64_t id = book_store(req->turn->db, upload->engine.id, book, req->viewer.user_id,
                            req->turn->now, err);
    if (!id)
        return false;
    char *words scope(free_ptr) = book_words(book, upload->engine.name);
    ledger_event(req->turn, "book", req->viewer.user_id, 0, 0, "%s", words);
    return respond_at(req, res, 201,
                      json_pack("{s:I, s:s, s:I, s:I, s:b, s:s}", "id", (json_int_t)id, "name",
                                book->name, "openings", (json_int_t)book->openings, "duplicates",
                                (json_int_t)book->duplicates, "chess960", (int)book->chess960,
                                "sha256", book->sha),
                      "/books/%lld", (long long)id);
}

const Route routes_books[] = {
    {"POST", "/api/v1/books", ACCESS_USER, BOOK_BODY_MAX, upload_prepare, upload_apply},
    {"POST", "/books", ACCESS_USER, BOOK_BODY_MAX, upload_prepare, upload_apply},
    {0},
};
