// What may be sent when: the order within a task, and that tasks do not wait for each other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "server/common/str.h"
#include "worker/results/outbox.h"

static Message *add(Outbox *box, MessageKind kind, int64_t task) {
    Message message = {.kind = kind, .task = task, .state = MESSAGE_UNSTORED};
    if (kind == MESSAGE_FINAL_REPORT) {
        message.state = MESSAGE_READY;
        message.body = json_object();
    } else
        message.item = xcalloc(1, sizeof *message.item);
    return outbox_add(box, &message);
}

static void take(Outbox *box, Message *message) {
    outbox_remove(box, message);
    message_free(message);
}

static void drop_all(Outbox *box) {
    while (box->first)
        take(box, box->first);
    assert_null(box->last);
}

static Message *next(const Outbox *box, double now_s) {
    double soonest_s = 1e9;
    return outbox_next(box, now_s, &soonest_s);
}

static void fail_until(Message *message, double retry_s) {
    message->retry_s = retry_s;
    message->failed = true;
}

static void a_task_is_sent_in_order(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Message *first = add(&box, MESSAGE_BATCH, 1), *second = add(&box, MESSAGE_BATCH, 1);
    Message *fault_report = add(&box, MESSAGE_ATTACHMENT, 1),
            *final = add(&box, MESSAGE_FINAL_REPORT, 1);
    Message *order[] = {first, second, fault_report, final};
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(next(&box, 0), order[i]);
        take(&box, order[i]);
    }
    assert_null(next(&box, 0));
}

static void a_batch_that_waits_holds_up_its_own_task_alone(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Message *stuck = add(&box, MESSAGE_BATCH, 1);
    add(&box, MESSAGE_BATCH, 1);
    add(&box, MESSAGE_ATTACHMENT, 1);
    add(&box, MESSAGE_FINAL_REPORT, 1);
    Message *other = add(&box, MESSAGE_BATCH, 2);
    fail_until(stuck, 50);
    assert_ptr_equal(next(&box, 10), other);
    take(&box, other);
    double soonest_s = 1000;
    assert_null(outbox_next(&box, 10, &soonest_s));
    assert_float_equal(soonest_s, 50, 1e-9);
    assert_ptr_equal(next(&box, 50), stuck);
}

static void a_fault_report_that_waits_delays_only_fault_reports(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Message *stuck = add(&box, MESSAGE_ATTACHMENT, 1);
    add(&box, MESSAGE_ATTACHMENT, 1);
    Message *batch = add(&box, MESSAGE_BATCH, 1), *final = add(&box, MESSAGE_FINAL_REPORT, 1);
    fail_until(stuck, 50);
    assert_ptr_equal(next(&box, 10), batch);
    take(&box, batch);
    // The second fault report was never tried, so the final report waits for it.
    assert_null(next(&box, 10));
    fail_until(stuck->next, 50);
    assert_ptr_equal(next(&box, 10), final);
}

static void messages_that_met_no_server_are_retried_when_it_is_back(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Message *alone = add(&box, MESSAGE_BATCH, 1), *turned_away = add(&box, MESSAGE_BATCH, 2);
    fail_until(alone, 50);
    fail_until(turned_away, 50);
    alone->offline = true;
    assert_null(next(&box, 10));
    outbox_retry_now(&box);
    assert_ptr_equal(next(&box, 10), alone);
    take(&box, alone);
    assert_null(next(&box, 10));
}

static void a_batch_that_is_not_packed_waits(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    Message *message = add(&box, MESSAGE_BATCH, 1);
    message->state = MESSAGE_PENDING;
    assert_ptr_equal(outbox_first_in(&box, MESSAGE_PENDING), message);
    assert_null(next(&box, 0));
    message->state = MESSAGE_UNSTORED;
    assert_ptr_equal(next(&box, 0), message);
}

static void what_is_not_on_disk_is_found(void **state) {
    (void)state;
    scope(drop_all) Outbox box = {0};
    add(&box, MESSAGE_FINAL_REPORT, 1);
    Message *stored = add(&box, MESSAGE_BATCH, 1), *loose = add(&box, MESSAGE_BATCH, 1);
    stored->state = MESSAGE_READY;
    assert_ptr_equal(outbox_first_in(&box, MESSAGE_UNSTORED), loose);
    loose->state = MESSAGE_READY;
    assert_null(outbox_first_in(&box, MESSAGE_UNSTORED));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_sent_in_order),
        cmocka_unit_test(a_batch_that_waits_holds_up_its_own_task_alone),
        cmocka_unit_test(a_fault_report_that_waits_delays_only_fault_reports),
        cmocka_unit_test(messages_that_met_no_server_are_retried_when_it_is_back),
        cmocka_unit_test(a_batch_that_is_not_packed_waits),
        cmocka_unit_test(what_is_not_on_disk_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
