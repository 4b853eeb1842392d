// What pages of faults say beyond their documents. See page.h.
#include <string.h>

#include "server/pages/page.h"

// Sides as pages name them, and what an ending is called.
void page_name_fault(json_t *fault) {
    static const char *const ends[][2] = {{"crash", "crash"},
                                          {"stall", "stall"},
                                          {"illegal", "illegal move"},
                                          {"time", "loss on time"}};
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

void page_name_machine_faults(const json_t *document) {
    json_t *fault;
    size_t i;
    json_array_foreach (json_object_get(document, "faults"), i, fault)
        page_name_fault(fault);
}

void page_name_faults(const json_t *document) {
    static const char *const lists[] = {"counts", "items"};
    json_t *fault;
    size_t i;
    for (size_t list = 0; list < 2; list++)
        json_array_foreach (json_object_get(document, lists[list]), i, fault)
            page_name_fault(fault);
}
