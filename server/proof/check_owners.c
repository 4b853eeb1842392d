// What no check can show: whose word the result rests on, and what people did to it.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/proof/check.h"

typedef struct Believed {
    const char *owner;
    int64_t pairs, level;
    json_t *machines;
} Believed;

static int by_owner(const void *a, const void *b) {
    return strcmp((*(const CheckedBatch *const *)a)->owner,
                  (*(const CheckedBatch *const *)b)->owner);
}

static int by_pairs(const void *a, const void *b) {
    int64_t x = ((const Believed *)a)->pairs, y = ((const Believed *)b)->pairs;
    return (x < y) - (x > y);
}

static void add_batch(Believed *of, const CheckedBatch *b) {
    char machine[32];
    snprintf(machine, sizeof machine, "%" PRId64, b->machine);
    of->owner = b->owner;
    of->pairs += b->units;
    of->level = b->level; // of its last batch
    if (!of->machines)
        of->machines = json_object();
    json_object_set_new(of->machines, machine, json_true());
}

// One element for each owner of batches that count, most pairs first. *count is their number.
static Believed *believed_owners(const Check *check, size_t *count, int64_t *pairs) {
    const CheckedBatch **sorted scope(free_ptr) = xcalloc(check->count + 1, sizeof *sorted);
    Believed *owners = xcalloc(check->count + 1, sizeof *owners);
    size_t used = 0;
    for (size_t i = 0; i < check->count; i++)
        if (check->batches[i].position && !check->batches[i].excluded)
            sorted[used++] = &check->batches[i];
    qsort(sorted, used, sizeof *sorted, by_owner);
    *count = 0;
    *pairs = 0;
    for (size_t i = 0; i < used; i++) {
        *count += i == 0 || strcmp(sorted[i]->owner, sorted[i - 1]->owner) != 0;
        add_batch(&owners[*count - 1], sorted[i]);
        *pairs += sorted[i]->units;
    }
    qsort(owners, *count, sizeof *owners, by_pairs);
    return owners;
}

static const char *name_of(const Check *check, const char *owner) {
    const json_t *row;
    size_t i;
    json_array_foreach (json_object_get(check->evidence->manifest, "owners"), i, row)
        if (strcmp(member_text(row, "owner"), owner) == 0)
            return member_text(row, "name");
    return "";
}

static void print_owner(const Check *check, const Believed *owner, int64_t pairs) {
    static const char *const levels[] = {"unproven", "has a record", "vouched for"};
    char *id scope(free_ptr) = check_shown(owner->owner);
    char *name scope(free_ptr) = check_shown(name_of(check, owner->owner));
    bool author = strcmp(owner->owner, member_text(check->test, "author_owner")) == 0;
    fprintf(check->out, "  %s%s%s: %" PRId64 " pairs (%.1f %%), machines: %zu, %s%s\n", id,
            *name ? " " : "", name, owner->pairs, 100 * (double)owner->pairs / (double)pairs,
            json_object_size(owner->machines), levels[owner->level],
            author ? ", the author of the test" : "");
}

static void print_exclusions(const Check *check) {
    const json_t *row;
    size_t i;
    json_array_foreach (json_object_get(check->evidence->manifest, "exclusions"), i, row) {
        char *user scope(free_ptr) = check_shown(member_text(row, "user"));
        char *kind scope(free_ptr) = check_shown(member_text(row, "kind"));
        char *reason scope(free_ptr) = check_shown(member_text(row, "reason"));
        fprintf(check->out, "excluded by %s: batches of a %s%s: %s\n", *user ? user : "the server",
                kind, json_is_null(json_object_get(row, "undone")) ? "" : " (undone)", reason);
    }
}

void check_print_owners(const Check *check) {
    size_t count;
    int64_t pairs;
    Believed *owners scope(free_ptr) = believed_owners(check, &count, &pairs);
    print_exclusions(check);
    if (count)
        fprintf(check->out, "believed: these owners, that the moves and scores they signed came "
                            "from the engines of the test, and were all that they played\n");
    for (size_t i = 0; i < count; i++) {
        print_owner(check, &owners[i], pairs);
        json_decref(owners[i].machines);
    }
    fprintf(check->out,
            "A signature shows that the holder of a key sent exactly this, and that the server did "
            "not change it.\nIt does not show that an engine played it, nor who holds the key. "
            "Batches that a server never showed leave no trace.\n");
}
