// What may be sent when: the order within a task, and that tasks do not wait for each other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "server/common/str.h"
#include "worker/results/outbox.h"

static Letter *add(Outbox *box, LetterKind kind, int64_t task) {
    Letter letter = {.kind = kind, .task = task};
    if (kind == LETTER_WORD)
        letter.body = json_object();
    else
        letter.item = xcalloc(1, sizeof *letter.item);
    return outbox_add(box, &letter);
}

static void take(Outbox *box, Letter *letter) {
    outbox_remove(box, letter);
    letter_free(letter);
}

static void drop_all(Outbox *box) {
    while (box->first)
        take(box, box->first);
    assert_null(box->last);
}

static Letter *next(const Outbox *box, double now_s) {
    double soonest_s = 1e9;
    return outbox_next(box, now_s, &soonest_s);
}

static void fail_until(Letter *letter, double retry_s) {
    letter->retry_s = retry_s;
    letter->tried = true;
}

static void a_task_is_sent_in_order(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Letter *first = add(&box, LETTER_BATCH, 1), *second = add(&box, LETTER_BATCH, 1);
    Letter *fault_report = add(&box, LETTER_FAULT_REPORT, 1), *word = add(&box, LETTER_WORD, 1);
    Letter *order[] = {first, second, fault_report, word};
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(next(&box, 0), order[i]);
        take(&box, order[i]);
    }
    assert_null(next(&box, 0));
}

static void a_batch_that_waits_holds_up_its_own_task_alone(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Letter *stuck = add(&box, LETTER_BATCH, 1);
    add(&box, LETTER_BATCH, 1);
    add(&box, LETTER_FAULT_REPORT, 1);
    add(&box, LETTER_WORD, 1);
    Letter *other = add(&box, LETTER_BATCH, 2);
    fail_until(stuck, 50);
    assert_ptr_equal(next(&box, 10), other);
    take(&box, other);
    double soonest_s = 1000;
    assert_null(outbox_next(&box, 10, &soonest_s));
    assert_float_equal(soonest_s, 50, 1e-9);
    assert_ptr_equal(next(&box, 50), stuck);
}

static void fault_report_that_waits_holds_up_nothing_but_fault_report(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Letter *stuck = add(&box, LETTER_FAULT_REPORT, 1);
    add(&box, LETTER_FAULT_REPORT, 1);
    Letter *batch = add(&box, LETTER_BATCH, 1), *word = add(&box, LETTER_WORD, 1);
    fail_until(stuck, 50);
    assert_ptr_equal(next(&box, 10), batch);
    take(&box, batch);
    // The second fault reports was never tried, so the last word waits for it.
    assert_null(next(&box, 10));
    fail_until(stuck->next, 50);
    assert_ptr_equal(next(&box, 10), word);
}

static void who_met_nobody_goes_at_once_when_the_server_is_back(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Letter *alone = add(&box, LETTER_BATCH, 1), *turned_away = add(&box, LETTER_BATCH, 2);
    fail_until(alone, 50);
    fail_until(turned_away, 50);
    alone->offline = true;
    assert_null(next(&box, 10));
    outbox_hurry(&box);
    assert_ptr_equal(next(&box, 10), alone);
    take(&box, alone);
    assert_null(next(&box, 10));
}

static void what_is_not_on_disk_is_found(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    add(&box, LETTER_WORD, 1);
    Letter *stored = add(&box, LETTER_BATCH, 1), *loose = add(&box, LETTER_BATCH, 1);
    stored->stored = true;
    assert_ptr_equal(outbox_first_unstored(&box), loose);
    loose->stored = true;
    assert_null(outbox_first_unstored(&box));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_sent_in_order),
        cmocka_unit_test(a_batch_that_waits_holds_up_its_own_task_alone),
        cmocka_unit_test(fault_report_that_waits_holds_up_nothing_but_fault_report),
        cmocka_unit_test(who_met_nobody_goes_at_once_when_the_server_is_back),
        cmocka_unit_test(what_is_not_on_disk_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
