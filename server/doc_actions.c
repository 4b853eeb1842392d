// See doc_actions.h. The rights themselves are checked where the actions are done (routes_tests.c);
// this is for people to see beforehand.
#include "doc_actions.h"

#include <stdlib.h>
#include <string.h>

enum { BOOK_SMALL = 1000 };

static const char *word(const json_t *row, const char *name) {
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

static int64_t whole(const json_t *row, const char *name) {
    return json_integer_value(json_object_get(row, name));
}

// ---- actions
// --------------------------------------------------------------------------------------

typedef struct Rights {
    bool signed_in, maintainer, author, self_approval;
    const char *engine;
} Rights;

static json_t *verdict(bool ok, const char *why) {
    return ok ? json_pack("{s:b}", "ok", 1) : json_pack("{s:b, s:s}", "ok", 0, "why", why);
}

static json_t *for_maintainer(const Rights *rights) {
    char *why scope(free_ptr) = xasprintf("needs the role maintainer of %s", rights->engine);
    return verdict(rights->maintainer, rights->signed_in ? why : "sign in first");
}

static json_t *for_author_too(const Rights *rights) {
    char *why scope(free_ptr) =
        xasprintf("is for the author and for maintainers of %s", rights->engine);
    return verdict(rights->author || rights->maintainer, rights->signed_in ? why : "sign in first");
}

static json_t *for_another(const Rights *rights) {
    if (rights->maintainer && rights->author && !rights->self_approval)
        return verdict(false, "another maintainer must look at your test");
    return for_maintainer(rights);
}

static json_t *merge_action(const Rights *rights, const json_t *row) {
    bool forward = strcmp(word(row, "base_commit"), word(row, "baseline")) == 0;
    json_t *action = strcmp(word(row, "new_options"), word(row, "base_options")) == 0
                         ? for_maintainer(rights)
                         : verdict(false, "the two sides had different options");
    json_object_set_new(action, "forward", json_boolean(forward));
    return action;
}

json_t *doc_actions(Request *req, const json_t *row) {
    const char *state = word(row, "state");
    bool open = strcmp(state, "finished") != 0;
    Rights rights = {
        .signed_in = req->viewer.user_id != 0,
        .maintainer = viewer_has_role(req->db, &req->viewer, whole(row, "engine_id"), "maintainer"),
        .author = req->viewer.user_id && whole(row, "author_id") == req->viewer.user_id,
        .self_approval = strcmp(app_setting(req, "self_approval", "0"), "1") == 0,
        .engine = word(row, "engine"),
    };
    json_t *actions = json_object();
    if (strcmp(state, "pending") == 0)
        json_object_set_new(actions, "approve", for_another(&rights));
    if (strcmp(state, "active") == 0)
        json_object_set_new(actions, "pause", for_author_too(&rights));
    if (strcmp(state, "paused") == 0)
        json_object_set_new(actions, "resume", for_author_too(&rights));
    if (open) {
        json_object_set_new(actions, "modify", for_author_too(&rights));
        json_object_set_new(actions, "stop", for_author_too(&rights));
    }
    if (strcmp(word(row, "result"), "accepted") == 0 && !*word(row, "merged_commit"))
        json_object_set_new(actions, "merge", merge_action(&rights, row));
    return actions;
}

// ---- warnings
// -------------------------------------------------------------------------------------

static void warn_if(json_t *warnings, bool condition, const char *text) {
    if (condition)
        json_array_append_new(warnings, json_string(text));
}

static bool same(const json_t *row, const char *a, const char *b) {
    return json_equal(json_object_get(row, a), json_object_get(row, b));
}

json_t *doc_warnings(const json_t *row, const json_t *failures) {
    json_t *warnings = json_array();
    bool benched = !json_is_null(json_object_get(row, "new_bench"));
    bool one_tree = same(row, "new_snapshot", "base_snapshot");
    warn_if(warnings, one_tree, "Both sides have the same source.");
    warn_if(warnings, !same(row, "new_options", "base_options"),
            "The two sides have different options.");
    warn_if(warnings, !benched && strcmp(word(row, "state"), "finished") != 0,
            "No bench is declared; the first machines to build the patch establish it.");
    warn_if(warnings, !one_tree && benched && same(row, "new_bench", "base_bench"),
            "Both sides have the same bench: the patch changes nothing that the bench sees.");
    warn_if(warnings, whole(row, "priority") > 0, "The priority is raised.");
    warn_if(warnings, whole(row, "openings") < BOOK_SMALL,
            "The book is small; its openings repeat soon.");
    warn_if(warnings, json_array_size(failures) > 0, "Machines have reported failures.");
    return warnings;
}
