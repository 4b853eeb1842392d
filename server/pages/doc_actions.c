// See doc_actions.h. The rights themselves are checked where the actions are done (routes_tests.c);
// this is for people to see beforehand.
#include "server/pages/doc_actions.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/submit/submit.h"

enum { BOOK_SMALL = 1000 };

// ---- actions ------------------------------------------------------------------------------------

typedef struct Rights {
    bool signed_in, developer, maintainer, author, self_approval;
    bool net_missing, net_too_large; // not here; not to be merged
    bool base_approved;
    const char *engine;
} Rights;

static json_t *verdict(bool ok, const char *why) {
    return ok ? json_pack("{s:b}", "ok", 1) : json_pack("{s:b, s:s}", "ok", 0, "why", why);
}

static json_t *for_developer(const Rights *rights) {
    char *why scope(free_ptr) = xasprintf("needs the role developer of %s", rights->engine);
    return verdict(rights->developer, rights->signed_in ? why : "sign in first");
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
    if (rights->maintainer && rights->net_missing)
        return verdict(false, "its net has not been uploaded yet");
    if (rights->maintainer && !rights->base_approved)
        return verdict(false, "no approval covers its base now");
    return for_maintainer(rights);
}

static json_t *merge_action(const Rights *rights, const json_t *row) {
    bool forward = strcmp(member_text(row, "base_commit"), member_text(row, "baseline")) == 0;
    bool alike = strcmp(member_text(row, "new_options"), member_text(row, "base_options")) == 0;
    json_t *action = !alike ? verdict(false, "the two sides had different options")
                     : forward && rights->net_too_large
                         ? verdict(false, "its net is larger than what the repository takes; test "
                                          "it in a smaller form")
                         : for_maintainer(rights);
    json_object_set_new(action, "forward", json_boolean(forward));
    return action;
}

static bool is_base_approved(const DocContext *ctx, const json_t *row) {
    Error ignored;
    return member_int(row, "base_in_baseline") ||
           approval_stands(ctx->db, member_int(row, "engine_id"), member_text(row, "base_commit"),
                           &ignored);
}

static bool is_net_missing(const DocContext *ctx, int64_t test) {
    char *net scope(free_ptr) = db_text(ctx->db, SQL_NET_MISSING, "i", test);
    return net;
}

// A net that a merge would put into the tree.
static bool is_net_too_large(const DocContext *ctx, const json_t *row) {
    const char *sha = member_text(row, "new_net");
    if (!json_array_size(json_object_get(row, "new_files")) ||
        strcmp(sha, member_text(row, "base_net")) == 0)
        return false;
    json_auto_t *net = db_row(ctx->db, SQL_NET_BY_SHA, "is", member_int(row, "engine_id"), sha);
    return member_int(net, "size") > NET_MERGE_MAX;
}

static bool is_set(const DocContext *ctx, const char *setting) {
    char *value scope(free_ptr) = db_text(ctx->db, SQL_SETTING_GET, "s", setting);
    return value && strcmp(value, "1") == 0;
}

json_t *doc_actions(const DocContext *ctx, const json_t *row) {
    const char *state = member_text(row, "state");
    bool open = strcmp(state, "finished") != 0;
    Rights rights = {
        .signed_in = ctx->viewer->user_id != 0,
        .developer = viewer_submits(ctx->db, ctx->viewer, member_int(row, "engine_id")),
        .maintainer =
            viewer_has_role(ctx->db, ctx->viewer, member_int(row, "engine_id"), "maintainer"),
        .author = ctx->viewer->user_id && member_int(row, "author_id") == ctx->viewer->user_id,
        .self_approval = is_set(ctx, "self_approval"),
        .net_missing = is_net_missing(ctx, member_int(row, "id")),
        .net_too_large = is_net_too_large(ctx, row),
        .base_approved = is_base_approved(ctx, row),
        .engine = member_text(row, "engine"),
    };
    json_t *actions = json_object();
    if (strcmp(state, "pending") == 0)
        json_object_set_new(actions, "approve", for_another(&rights));
    if (strcmp(state, "active") == 0)
        json_object_set_new(actions, "pause", for_author_too(&rights));
    if (strcmp(state, "paused") == 0)
        json_object_set_new(actions, "resume", for_author_too(&rights));
    if (strcmp(member_text(row, "result"), "failed") == 0 && !member_int(row, "harmful"))
        json_object_set_new(actions, "resume", for_maintainer(&rights));
    if (open && rights.net_missing)
        json_object_set_new(actions, "upload_net", for_developer(&rights));
    if (open) {
        json_object_set_new(actions, "modify", for_author_too(&rights));
        json_object_set_new(actions, "stop", for_author_too(&rights));
    }
    json_object_set_new(actions, "exclude", for_maintainer(&rights));
    json_object_set_new(actions, "bench", for_maintainer(&rights));
    if (member_int(row, "harmful"))
        return actions;
    if (!*member_text(row, "merged_commit"))
        json_object_set_new(actions, "harmful", for_maintainer(&rights));
    if (strcmp(member_text(row, "result"), "accepted") == 0 && !*member_text(row, "merged_commit"))
        json_object_set_new(actions, "merge", merge_action(&rights, row));
    return actions;
}

json_t *doc_machine_actions(const DocContext *ctx, const json_t *machine) {
    bool blocked = json_is_true(json_object_get(machine, "blocked"));
    const char *why = ctx->viewer->user_id ? "needs the role maintainer" : "sign in first";
    return json_pack("{s:o}", blocked ? "unblock" : "block",
                     verdict(viewer_has_role(ctx->db, ctx->viewer, 0, "maintainer"), why));
}

// ---- warnings -----------------------------------------------------------------------------------

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
    warn_if(warnings, !benched && strcmp(member_text(row, "state"), "finished") != 0,
            "No bench is declared; the first machines to build the patch establish it.");
    warn_if(warnings, !one_tree && benched && same(row, "new_bench", "base_bench"),
            "Both sides have the same bench: the patch changes nothing that the bench sees.");
    warn_if(warnings, !member_int(row, "base_in_baseline"),
            "The base is not the baseline's: what it adds is shown, and runs, too.");
    warn_if(warnings, member_int(row, "priority") > 0, "The priority is raised.");
    warn_if(warnings, member_int(row, "openings") < BOOK_SMALL,
            "The book is small; its openings repeat soon.");
    warn_if(warnings, json_array_size(failures) > 0, "Machines have reported failures.");
    return warnings;
}
