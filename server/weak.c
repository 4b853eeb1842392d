// What the core falls back to where a module that stands above it is not linked.
#include "hooks.h"

#include <stdio.h>

#define WEAK __attribute__((weak))

WEAK const Route routes_worker[] = {{0}};
WEAK const Route routes_tests[] = {{0}};
WEAK const Route routes_pages[] = {{0}};
WEAK const Route routes_git[] = {{0}};

WEAK void page_error(Request *req, Response *res, const Error *err) {
    (void)req;
    char *text scope(free_ptr) = xasprintf("%d %s\n", err->status, err->message);
    response_text(res, err->status, "text/plain; charset=utf-8", text);
}

WEAK bool page_form_error(Request *req, Response *res, const char *template, const Error *err) {
    (void)req, (void)res, (void)template, (void)err;
    return false;
}

WEAK void page_token_made(Request *req, Response *res, const json_t *token) {
    (void)req;
    char *text scope(free_ptr) =
        xasprintf("%s\n", json_string_value(json_object_get(token, "token")));
    response_text(res, 201, "text/plain; charset=utf-8", text);
}

WEAK bool engine_install(Db *db, const char *data, const char *source_dir, Error *err) {
    (void)db, (void)data, (void)source_dir, (void)err;
    return true;
}

WEAK int64_t book_install(Db *db, const char *data, int64_t engine_id, const char *path,
                          const char *name, double now, Error *err) {
    (void)db, (void)data, (void)engine_id, (void)path, (void)name, (void)now, (void)err;
    return 1;
}

WEAK bool repo_reconcile(App *app, Error *err) {
    (void)app, (void)err;
    return true;
}

WEAK int command_engine(int argc, char **argv) {
    (void)argc, (void)argv;
    fprintf(stderr, "server engine: not in this build\n");
    return 2;
}

WEAK void ledger_tick(App *app, Db *db, double now);
void ledger_tick(App *app, Db *db, double now) {
    (void)app, (void)db, (void)now;
}

WEAK bool ledger_resume(Db *db, double down_seconds, Error *err);
bool ledger_resume(Db *db, double down_seconds, Error *err) {
    (void)db, (void)down_seconds, (void)err;
    return true;
}

WEAK int ledger_check(Db *db, FILE *out);
int ledger_check(Db *db, FILE *out) {
    (void)db, (void)out;
    return 0;
}
