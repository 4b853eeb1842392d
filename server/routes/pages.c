// The pages and the read API. Most documents have two addresses with one handler: the page, and the
// document under /api/v1. A handler names the document and the page's template; pages/page.h
// decides which of the two is the reply.
#include "server/pages/doc.h"
#include "server/pages/page.h"
#include "server/routes/routes.h"

// ---- lists --------------------------------------------------------------------------------------

static bool home(Request *req, Response *res, Error *err) {
    (void)err;
    DocContext ctx = page_context(req);
    return page_home(req, res, doc_home(&ctx));
}

static bool tests(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_list(req, res, "finished", "Finished tests", doc_tests(&ctx, err));
}

static bool events(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_events(req, res, doc_events(&ctx, err));
}

static bool nets(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_list(req, res, "nets", "Nets", doc_nets(&ctx, err));
}

static bool machines(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_list(req, res, "machines", "Machines", doc_machines(&ctx, err));
}

static bool suspects(Request *req, Response *res, Error *err) {
    (void)err;
    DocContext ctx = page_context(req);
    return page_serve(req, res, "suspects", "Suspect machines", doc_suspects(&ctx));
}

// ---- one thing ----------------------------------------------------------------------------------

static bool machine(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_machine(req, res, doc_machine(&ctx, request_id(req, 0), err));
}

static bool user(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_user(req, res, doc_user(&ctx, req->params[0], err));
}

static bool test(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_test(req, res, doc_test(&ctx, request_id(req, 0), err), err);
}

static bool history(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_serve(req, res, "test", "", doc_history(&ctx, request_id(req, 0), err));
}

static bool faults(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_faults(req, res, doc_faults(&ctx, request_id(req, 0), err));
}

static bool fault(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_fault(req, res, doc_fault(&ctx, request_id(req, 0), err));
}

// ---- forms --------------------------------------------------------------------------------------

static bool form_data(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_serve(req, res, "new", "", doc_form(&ctx, NULL, err));
}

static bool new_test(Request *req, Response *res, Error *err) {
    return page_form(req, res, "new", NULL) || error_set(err, 404, "", "this server has no engine");
}

static bool login(Request *req, Response *res, Error *err) {
    (void)err;
    return page_form(req, res, "login", NULL);
}

static bool signup(Request *req, Response *res, Error *err) {
    (void)err;
    return page_form(req, res, "signup", NULL);
}

static bool account(Request *req, Response *res, Error *err) {
    (void)err;
    page_account(req, res, 200, NULL, NULL);
    return true;
}

static bool health(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    bool undeclared_proxy = atomic_load(&req->site->undeclared_proxy);
    return page_serve(req, res, "health", "Health", doc_health(&ctx, undeclared_proxy, err));
}

static bool admin(Request *req, Response *res, Error *err) {
    (void)err;
    DocContext ctx = page_context(req);
    return page_serve(req, res, "admin", "Users", doc_users(&ctx));
}

static bool engines(Request *req, Response *res, Error *err) {
    (void)err;
    DocContext ctx = page_context(req);
    return page_serve(req, res, "engines", "Engines", doc_engines(&ctx));
}

static bool books(Request *req, Response *res, Error *err) {
    (void)err;
    DocContext ctx = page_context(req);
    return page_serve(req, res, "books", "Books", doc_books(&ctx));
}

static bool book(Request *req, Response *res, Error *err) {
    DocContext ctx = page_context(req);
    return page_serve(req, res, "book", "Book", doc_book(&ctx, request_id(req, 0), err));
}

#define PAGE(pattern, access, handler)                                                             \
    { "GET", pattern, access, 0, handler, NULL }
#define BOTH(page, api, handler)                                                                   \
    PAGE(page, ACCESS_ANYONE, handler), PAGE("/api/v1" api, ACCESS_ANYONE, handler)

const Route routes_pages[] = {
    BOTH("/", "/overview", home),
    BOTH("/tests/finished", "/tests", tests),
    BOTH("/tests/{id}", "/tests/{id}", test),
    BOTH("/tests/{id}/faults", "/tests/{id}/faults", faults),
    BOTH("/faults/{id}", "/faults/{id}", fault),
    BOTH("/events", "/events", events),
    BOTH("/nets", "/nets", nets),
    BOTH("/books", "/books", books),
    BOTH("/books/{id}", "/books/{id}", book),
    BOTH("/engines", "/engines", engines),
    BOTH("/machines", "/machines", machines),
    BOTH("/machines/{id}", "/machines/{id}", machine),
    BOTH("/suspects", "/suspects", suspects),
    BOTH("/users/{name}", "/users/{name}", user),
    PAGE("/api/v1/tests/{id}/history", ACCESS_ANYONE, history),
    PAGE("/api/v1/tests/form", ACCESS_ANYONE, form_data),
    PAGE("/tests/new", ACCESS_ANYONE, new_test),
    PAGE("/login", ACCESS_ANYONE, login),
    PAGE("/signup", ACCESS_ANYONE, signup),
    PAGE("/account", ACCESS_USER, account),
    PAGE("/health", ACCESS_ANYONE, health),
    PAGE("/admin", ACCESS_ADMIN, admin),
    {0},
};
