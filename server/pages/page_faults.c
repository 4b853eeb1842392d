// Pages of faults and of machines, which list them: the words of pages for sides and endings.
// See page.h.
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/page.h"

void page_name_fault(json_t *fault) {
    static const char *const ends[][2] = {{"crash", "crash"},
                                          {"stall", "stall"},
                                          {"illegal", "illegal move"},
                                          {"time", "loss on time"},
                                          {"ponder", "computing in the opponent's time"}};
    const char *side = json_string_value(json_object_get(fault, "side"));
    const char *end = json_string_value(json_object_get(fault, "end"));
    if (!side || !end)
        return;
    json_object_set_new(fault, "culprit", json_string(strcmp(side, "new") == 0 ? "patch" : "base"));
    const json_t *game = json_object_get(fault, "game");
    json_object_set_new(fault, "nth", json_string(json_integer_value(game) ? "second" : "first"));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i][0], end) == 0)
            json_object_set_new(fault, "what", json_string(ends[i][1]));
}

static void name_all(const json_t *document, const char *list) {
    json_t *fault;
    size_t i;
    json_array_foreach (json_object_get(document, list), i, fault)
        page_name_fault(fault);
}

void page_name_faults(const json_t *document) {
    name_all(document, "counts");
    name_all(document, "items");
}

bool page_machine(Request *req, Response *res, json_t *document) {
    if (!document)
        return false;
    if (!request_is_api(req))
        name_all(document, "faults");
    const char *name = member_text(json_object_get(document, "machine"), "name");
    char *title scope(free_ptr) = xasprintf("Machine %s", name);
    return page_serve(req, res, "machine", title, document);
}

bool page_faults(Request *req, Response *res, json_t *document) {
    if (!document)
        return false;
    if (!request_is_api(req))
        page_name_faults(document);
    const char *test = member_text(json_object_get(document, "test"), "title");
    char *title scope(free_ptr) = xasprintf("Faults in %s", test);
    return page_list(req, res, "faults", title, document);
}

bool page_fault(Request *req, Response *res, json_t *document) {
    if (!document)
        return false;
    json_t *fault = json_object_get(document, "fault");
    if (!request_is_api(req)) {
        page_name_fault(fault);
        json_object_set_new(document, "board", page_board(member_text(document, "pgn")));
    }
    char *title scope(free_ptr) = xasprintf("Fault %lld", (long long)member_int(fault, "id"));
    return page_serve(req, res, "fault", title, document);
}
