// See page.h.
#include "server/pages/page.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/common/log.h"
#include "server/db/settings.h"
#include "server/http/request.h"
#include "server/pages/format.h"
#include "server/pages/mustache.h"

enum { TEMPLATE_FILE_MAX = 256 << 10, STATIC_FILE_MAX = 8 << 20, PAGE_MAX = 32 << 20 };

// Filled once at start and only read from then on.
static Mustache *templates;
static char fingerprint[17]; // of the static files: their address changes when they do

// ---- loading ------------------------------------------------------------------------------------

static void free_names(struct dirent ***names) {
    free(*names);
}

static int is_file(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

typedef bool Visit(void *context, const char *name, const char *text, size_t size, Error *err);

// Calls `visit` with every file of the folder, by name, with at most `max` bytes each.
static bool visit_files(const char *folder, size_t max, Visit *visit, void *context, Error *err) {
    struct dirent **entries scope(free_names) = NULL;
    int count = scandir(folder, &entries, is_file, alphasort);
    bool good = count >= 0 || error_errno(err, "cannot read the folder %s", folder);
    for (int i = 0; i < count; i++) {
        size_t size;
        char *path scope(free_ptr) = xasprintf("%s/%s", folder, entries[i]->d_name);
        char *text scope(free_ptr) = good ? file_read(path, max, &size, err) : NULL;
        good = text && visit(context, entries[i]->d_name, text, size, err);
        free(entries[i]);
    }
    return good;
}

static bool add_template(void *set, const char *file, const char *text, size_t size, Error *err) {
    const char *dot = strrchr(file, '.');
    if (!dot || strcmp(dot, ".html"))
        return true;
    if (strlen(text) != size)
        return error_set(err, 500, "bad_template", "%s holds a NUL", file);
    char *name scope(free_ptr) = xstrndup(file, (size_t)(dot - file));
    return mustache_add(set, name, text, err);
}

static bool add_static(void *all, const char *file, const char *text, size_t size, Error *err) {
    char hash[SHA256_HEX_MAX];
    (void)err;
    sha256_hex(text, size, hash);
    str_printf(all, "%s %s\n", file, hash);
    return true;
}

bool page_load_from(const char *folder, const char *static_folder, Error *err) {
    Str files scope(str_release);
    char hash[SHA256_HEX_MAX];
    str_init(&files, 1 << 20);
    Mustache *set = mustache_new(format_value, format_is_known);
    if (!visit_files(folder, TEMPLATE_FILE_MAX, add_template, set, err) ||
        !visit_files(static_folder, STATIC_FILE_MAX, add_static, &files, err)) {
        mustache_free(set);
        return error_prefix(err, "pages");
    }
    mustache_free(templates);
    templates = set;
    sha256_hex(files.data, files.size, hash);
    memcpy(fingerprint, hash, sizeof fingerprint - 1);
    return true;
}

// ---- what documents need ------------------------------------------------------------------------

DocContext page_context(Request *req) {
    DocContext ctx = {.db = req->turn->db, .now = req->turn->now, .viewer = &req->viewer};
    ctx.data = req->site ? req->site->data : NULL;
    if (req->data) {
        ctx.query = &req->data->query;
        ctx.cache = request_cache(req);
        ctx.cache_version = req->data->version;
    }
    return ctx;
}

// ---- what all pages have ------------------------------------------------------------------------

static json_t *viewer_json(Request *req) {
    const Viewer *viewer = &req->viewer;
    if (!viewer->user_id)
        return json_null();
    DocContext ctx = page_context(req);
    return json_pack("{s:I, s:s, s:b, s:s, s:I}", "id", (json_int_t)viewer->user_id, "name",
                     viewer->name, "admin", (int)viewer->admin, "csrf", viewer->csrf, "requests",
                     (json_int_t)doc_roles_to_answer(&ctx));
}

static json_t *site_json(Request *req) {
    const char *host = request_header(req, "Host");
    char *url scope(free_ptr) = xasprintf(
        "%s://%s", req->data && req->data->https ? "https" : "http", host ? host : "localhost");
    char *name scope(free_ptr) = setting_text(req->turn->db, SETTING_NAME);
    return json_pack("{s:s, s:s, s:s, s:b}", "name", name, "url", url, "version", fingerprint,
                     "signup", (int)!setting_is(req->turn->db, SETTING_SIGNUP, "closed"));
}

// The document is the page's own, so added members cannot be seen through the API.
static void add_frame(Request *req, json_t *document, const char *template, const char *title) {
    json_object_set_new(document, "viewer", viewer_json(req));
    json_object_set_new(document, "site", site_json(req));
    json_object_set_new(document, "nav", json_pack("{s:b}", template, 1));
    json_object_set_new(document, "page_title", json_string(title));
    json_object_set_new(document, "page_path", json_string(req->path));
    json_object_set_new(document, "page_time", json_real(req->turn->now > 0 ? req->turn->now : 0));
}

static bool render(const char *template, json_t *document, Str *out, Error *err) {
    Str content scope(str_release);
    str_init(&content, PAGE_MAX);
    if (!mustache_render(templates, template, document, &content, err))
        return false;
    json_object_set_new(document, "content", json_stringn(content.data, content.size));
    return mustache_render(templates, "layout", document, out, err);
}

void page_render(Request *req, Response *res, int status, const char *template, const char *title,
                 json_t *document) {
    Error err;
    json_auto_t *owned = document;
    add_frame(req, owned, template, title);
    response_text(res, status, "text/html; charset=utf-8", "");
    if (templates && render(template, owned, &res->body, &err))
        return;
    log_warn("page %s: %s", template, templates ? err.message : "no templates are loaded");
    response_text(res, status, "text/plain; charset=utf-8", title);
}

bool page_serve(Request *req, Response *res, const char *template, const char *title,
                json_t *document) {
    if (!document)
        return false;
    if (request_is_api(req))
        response_json(res, 200, document);
    else
        page_render(req, res, 200, template, title, document);
    return true;
}
