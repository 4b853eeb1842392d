// Which pairs count, in which order, and what they make: counted again by the code with which the
// server counts (ledger/count.h), and compared with what the manifest says.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/book_use.h"
#include "server/proof/check.h"

// ---- places -------------------------------------------------------------------------------------

static int by_task(const void *a, const void *b) {
    const CheckedBatch *x = *(const CheckedBatch *const *)a, *y = *(const CheckedBatch *const *)b;
    return x->task != y->task ? (x->task > y->task) - (x->task < y->task)
                              : (x->seq > y->seq) - (x->seq < y->seq);
}

// Those that count come before the others.
static int by_pair(const void *a, const void *b) {
    const CheckedBatch *x = *(const CheckedBatch *const *)a, *y = *(const CheckedBatch *const *)b;
    int counts_x = x->position > 0, counts_y = y->position > 0;
    return counts_x != counts_y ? counts_y - counts_x
                                : (x->first_pair > y->first_pair) - (x->first_pair < y->first_pair);
}

// A server takes the batches of a task one after the other. So a batch that is taken out of the
// middle of a task leaves a gap.
static void check_tasks(Check *check, const CheckedBatch **sorted) {
    for (size_t i = 0; i < check->count; i++) {
        const CheckedBatch *b = sorted[i];
        const CheckedBatch *before = i && sorted[i - 1]->task == b->task ? sorted[i - 1] : NULL;
        int64_t wanted = before ? before->seq + 1 : 0;
        if (b->seq != wanted)
            check_wrong(check, "task %" PRId64 ": batch %" PRId64 " is missing or comes twice",
                        b->task, wanted);
        else if (before && (b->first_pair != before->first_pair + before->units ||
                            b->machine != before->machine))
            check_wrong(check,
                        "task %" PRId64 ": batch %" PRId64
                        " has other pairs or another machine than its task",
                        b->task, b->seq);
    }
}

static void check_pairs(Check *check, const CheckedBatch **sorted) {
    for (size_t i = 1; i < check->count && sorted[i]->position; i++)
        if (sorted[i]->first_pair == sorted[i - 1]->first_pair)
            check_wrong(check,
                        "pairs from %" PRId64 " count twice: batch %" PRId64 " of task %" PRId64
                        " and batch %" PRId64 " of task %" PRId64,
                        sorted[i]->first_pair, sorted[i - 1]->seq, sorted[i - 1]->task,
                        sorted[i]->seq, sorted[i]->task);
}

static void check_places(Check *check) {
    const CheckedBatch **sorted scope(free_ptr) = xcalloc(check->count + 1, sizeof *sorted);
    int64_t next_pair = member_int(check->test, "next_pair"), counted = 0;
    check->step = "places";
    for (size_t i = 0; i < check->count; i++) {
        sorted[i] = &check->batches[i];
        counted +=
            check->batches[i].position && !check->batches[i].excluded ? check->batches[i].units : 0;
        if (check->batches[i].first_pair + check->batches[i].units > next_pair)
            check_wrong(check,
                        "batch %" PRId64 " of task %" PRId64 " has pairs that were not dealt",
                        check->batches[i].seq, check->batches[i].task);
    }
    qsort(sorted, check->count, sizeof *sorted, by_task);
    check_tasks(check, sorted);
    qsort(sorted, check->count, sizeof *sorted, by_pair);
    check_pairs(check, sorted);
    check_end(check,
              "no pair counts twice, and no task has a gap; of %" PRId64 " pairs that were dealt, "
              "%" PRId64 " count",
              next_pair, counted);
}

// ---- the count ----------------------------------------------------------------------------------

static bool has_people_changed_it(const Check *check) {
    const json_t *manifest = check->evidence->manifest;
    return json_array_size(json_object_get(manifest, "exclusions")) ||
           json_array_size(json_object_get(manifest, "reopenings"));
}

static void count_batches(Check *check, Count *count) {
    int64_t position = 0;
    for (size_t i = 0; i < check->count && check->batches[i].position; i++) {
        const CheckedBatch *b = &check->batches[i];
        if (b->position != ++position)
            check_wrong(check,
                        "batch %" PRId64 " of task %" PRId64 " has position %" PRId64
                        ", and %" PRId64 " comes next",
                        b->seq, b->task, b->position, position);
        if (b->excluded || !b->possible)
            continue;
        if (count_judge(count, false) && !has_people_changed_it(check))
            check_wrong(check, "batch %" PRId64 " of task %" PRId64 " counts after the verdict",
                        b->seq, b->task);
        count_add(count, &(WorkloadBatch){.told = b->told,
                                          .result = b->result,
                                          .owner = b->owner,
                                          .level = (OwnerLevel)b->level,
                                          .sign = 1,
                                          .units = b->units});
    }
    for (size_t i = (size_t)position; i < check->count; i++)
        if (check->batches[i].position)
            check_wrong(check, "batch %" PRId64 " of task %" PRId64 " is not in its place",
                        check->batches[i].seq, check->batches[i].task);
}

static void compare(Check *check, const char *what, const json_t *stated, const char *counted) {
    char *text scope(free_ptr) = count_text(stated);
    char *shown scope(free_ptr) = check_shown(text ? text : "nothing");
    if (!text || strcmp(text, counted) != 0)
        check_wrong(check, "%s is %.300s, counting again gives %.300s", what, shown, counted);
}

// A test that a person stopped, or that failed, has no verdict to be counted.
static void compare_verdict(Check *check, const Count *count) {
    const char *stated = member_text(check->test, "result");
    bool repeats =
        json_is_true(json_object_get(check->test, "repeats")) || member_int(check->test, "repeats");
    int64_t limit = book_limit(repeats && check->workload->unit == UNIT_PAIR,
                               (int64_t)book_size(check->book), check->batch_pairs);
    const char *counted = count_judge(count, count->units == limit);
    char *shown scope(free_ptr) = check_shown(stated);
    if (!*stated || strcmp(stated, "stopped") == 0 || strcmp(stated, "failed") == 0)
        return;
    if (!counted || strcmp(stated, counted) != 0)
        check_wrong(check, "the test is %s, and its batches make: %s", shown,
                    counted ? counted : "nothing yet");
}

static void check_verdict(Check *check, Count *count) {
    char summary[COUNT_SUMMARY_MAX];
    check->step = "verdict";
    count->test.batch_units = check->batch_pairs;
    count->test.units_max = member_int(check->test, "pairs_max");
    count->author = member_int(check->test, "author_id");
    count_batches(check, count);
    char *state scope(free_ptr) = count_state_text(count),
                *points scope(free_ptr) = count_points_text(count);
    if (count->units != member_int(check->test, "units_counted"))
        check_wrong(check, "%" PRId64 " pairs count, the manifest says %" PRId64, count->units,
                    member_int(check->test, "units_counted"));
    if (count->units > 0) {
        compare(check, "the state", json_object_get(check->test, "counts"), state);
        compare(check, "the text of its points", json_object_get(check->test, "points"), points);
    }
    compare_verdict(check, count);
    count_summary(count, summary);
    check_end(check, "%" PRId64 " pairs in the order of their positions make: %s %s", count->units,
              summary, member_text(check->test, "result"));
}

void check_count(Check *check) {
    scope(count_release) Count count = {0};
    Error err = {0};
    char *parameters scope(free_ptr) = count_text(json_object_get(check->test, "parameters"));
    check_places(check);
    if (count_init(&count, check->workload->name, parameters, "{}", &err))
        check_verdict(check, &count);
    else
        check_wrong(check, "%s", err.message);
}
