// To whom things are charged, what one may take, and who comes next.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/senders.h"

static Senders *senders;
static Error err;

static int make(void **state) {
    (void)state;
    senders = senders_new();
    memset(&err, 0, sizeof err);
    return 0;
}

static int drop(void **state) {
    (void)state;
    senders_free(senders);
    return 0;
}

static Sender *machine(int number, const char *owner) {
    char name[32];
    snprintf(name, sizeof name, "machine %d", number);
    return sender_enter(senders, SENDER_MACHINE, name, owner);
}

static Sender *visitor(const char *network) {
    return sender_enter(senders, SENDER_NETWORK, network, network);
}

static int jobs_begun(Sender *sender, int wanted) {
    int count = 0;
    while (count < wanted && sender_begin_job(sender, &err))
        count++;
    return count;
}

static void end_jobs(Sender *sender, int count) {
    while (count--)
        sender_end_job(sender);
}

// ---- shares -------------------------------------------------------------------------------------

static void a_sender_is_one_by_name_and_owner(void **state) {
    (void)state;
    Sender *one = machine(1, "user 1"), *again = machine(1, "user 1"), *sold = machine(1, "user 2");
    assert_ptr_equal(one, again);
    assert_ptr_not_equal(one, sold);
    assert_string_equal(sender_name(one), "machine 1");
    sender_leave(one);
    sender_leave(again);
    sender_leave(sold);
}

static void a_machine_has_eight_jobs_and_gets_the_place_of_an_ended_one(void **state) {
    (void)state;
    Sender *one = machine(1, "user 1");
    assert_int_equal(jobs_begun(one, 100), MACHINE_JOBS_MAX);
    assert_int_equal(err.status, 429);
    assert_string_equal(err.code, "too_many_requests");
    sender_end_job(one);
    assert_int_equal(jobs_begun(one, 100), 1);
    end_jobs(one, MACHINE_JOBS_MAX);
    sender_leave(one);
}

static void fifty_machines_of_one_account_have_a_job_each(void **state) {
    (void)state;
    Sender *all[50];
    for (int i = 0; i < 50; i++) {
        all[i] = machine(i, "user 1");
        assert_int_equal(jobs_begun(all[i], 1), 1);
    }
    for (int i = 0; i < 50; i++) {
        end_jobs(all[i], 1);
        sender_leave(all[i]);
    }
}

static void machines_of_one_owner_together_have_sixty_four_jobs(void **state) {
    (void)state;
    Sender *all[20], *other = machine(99, "user 2"), *person;
    int counts[20], sum = 0;
    for (int i = 0; i < 20; i++) {
        all[i] = machine(i, "user 1");
        sum += counts[i] = jobs_begun(all[i], 100);
    }
    assert_int_equal(sum, OWNER_MACHINE_JOBS_MAX);
    assert_int_equal(jobs_begun(other, 1), 1);
    person = sender_enter(senders, SENDER_USER, "user 1", "user 1");
    assert_int_equal(jobs_begun(person, 20), 20); // twenty tabs of the owner's
    end_jobs(person, 20);
    end_jobs(other, 1);
    for (int i = 0; i < 20; i++) {
        end_jobs(all[i], counts[i]);
        sender_leave(all[i]);
    }
    sender_leave(other);
    sender_leave(person);
}

static void bytes_are_bounded_by_sender_and_given_back(void **state) {
    (void)state;
    Sender *one = machine(1, "user 1"), *nobody = visitor("192.0.2.1");
    assert_true(sender_take_bytes(one, SENDER_BYTES_MAX, &err));
    assert_false(sender_take_bytes(one, 1, &err));
    assert_int_equal(err.status, 429);
    assert_true(sender_take_bytes(nobody, NETWORK_BYTES_MAX, &err));
    assert_false(sender_take_bytes(nobody, 1, &err));
    sender_give_bytes(one, 1000);
    assert_true(sender_take_bytes(one, 1000, &err));
    assert_false(senders_full(senders));
    sender_give_bytes(one, SENDER_BYTES_MAX);
    sender_give_bytes(nobody, NETWORK_BYTES_MAX);
    assert_int_equal(sender_bytes(one), 0);
    sender_leave(one);
    sender_leave(nobody);
}

static void all_senders_together_fill_the_server(void **state) {
    (void)state;
    enum { COUNT = SENDERS_BYTES_MAX / SENDER_BYTES_MAX };
    Sender *all[COUNT], *last = visitor("192.0.2.1");
    for (int i = 0; i < COUNT; i++) {
        all[i] = machine(i, "user 1");
        assert_true(sender_take_bytes(all[i], SENDER_BYTES_MAX, &err));
    }
    assert_false(senders_full(senders));
    assert_true(sender_take_bytes(last, 1, &err));
    assert_true(senders_full(senders));
    for (int i = 0; i < COUNT; i++) {
        sender_give_bytes(all[i], SENDER_BYTES_MAX);
        sender_leave(all[i]);
    }
    sender_give_bytes(last, 1);
    sender_leave(last);
}

static void requests_and_streams_of_an_address_are_counted(void **state) {
    (void)state;
    Sender *one = visitor("192.0.2.1"), *other = visitor("192.0.2.2");
    for (int i = 0; i < 1000; i++)
        assert_true(sender_begin_request(one, 1000, &err));
    assert_false(sender_begin_request(one, 1000, &err));
    assert_true(sender_begin_request(other, 1000, &err));
    for (int i = 0; i < SENDER_STREAMS_MAX; i++)
        assert_true(sender_begin_stream(one, &err));
    assert_false(sender_begin_stream(one, &err));
    assert_true(sender_begin_stream(other, &err));
    sender_end_stream(one);
    assert_true(sender_begin_stream(one, &err));
    sender_leave(one);
    sender_leave(other);
}

static void an_address_has_eight_downloads(void **state) {
    (void)state;
    Sender *one = visitor("192.0.2.1"), *other = visitor("192.0.2.2");
    for (int i = 0; i < SENDER_DOWNLOADS_MAX; i++)
        assert_true(sender_begin_download(one, &err));
    assert_false(sender_begin_download(one, &err));
    assert_string_equal(err.code, "too_many_downloads");
    assert_true(sender_begin_download(other, &err));
    sender_end_download(one);
    assert_true(sender_begin_download(one, &err));
    sender_leave(one);
    sender_leave(other);
}

// ---- turns --------------------------------------------------------------------------------------

static Job jobs[1000];
static int job_count;

static void push(JobQueue *queue, Sender *sender, int count) {
    while (count--) {
        jobs[job_count] = (Job){.sender = sender};
        queue_push(queue, &jobs[job_count++]);
    }
}

static int position(JobQueue *queue, const Sender *sender) {
    int count = 0;
    for (Job *job; (job = queue_pop(queue)); count++) {
        queue_done(queue, job);
        if (job->sender == sender)
            return count;
    }
    return -1;
}

static void empty(JobQueue *queue) {
    for (Job *job; (job = queue_pop(queue));)
        queue_done(queue, job);
    assert_int_equal(queue->count, 0);
    job_count = 0;
}

static void jobs_of_one_sender_come_in_their_order(void **state) {
    (void)state;
    JobQueue queue = {0};
    Sender *one = visitor("192.0.2.1");
    push(&queue, one, 5);
    for (int i = 0; i < 5; i++) {
        Job *job = queue_pop(&queue);
        assert_ptr_equal(job, &jobs[i]);
        queue_done(&queue, job);
    }
    assert_null(queue_pop(&queue));
    job_count = 0;
    sender_leave(one);
}

static void a_visitor_waits_for_one_job_of_each_owner_before(void **state) {
    (void)state;
    JobQueue queue = {.lane = 1};
    Sender *flood = visitor("192.0.2.1"), *other = visitor("192.0.2.2"), *home = visitor("::/64");
    push(&queue, flood, 400);
    push(&queue, other, 400);
    push(&queue, home, 1);
    assert_int_equal(position(&queue, home), 2);
    push(&queue, home, 1);
    assert_true(position(&queue, home) <= 2);
    empty(&queue);
    sender_leave(flood);
    sender_leave(other);
    sender_leave(home);
}

static void many_machines_of_an_owner_are_one_turn_and_none_of_them_starves(void **state) {
    (void)state;
    JobQueue queue = {0};
    Sender *all[50], *home = visitor("192.0.2.2");
    for (int i = 0; i < 50; i++) {
        all[i] = machine(i, "user 1");
        push(&queue, all[i], i ? 1 : 100);
    }
    push(&queue, home, 1);
    assert_int_equal(position(&queue, home), 1);
    assert_true(position(&queue, all[49]) < 50); // the first has a hundred queued
    empty(&queue);
    for (int i = 0; i < 50; i++)
        sender_leave(all[i]);
    sender_leave(home);
}

static void an_owner_has_no_more_running_than_its_share(void **state) {
    (void)state;
    JobQueue queue = {.running_max = 2};
    Sender *one = machine(1, "user 1"), *two = machine(2, "user 1"), *home = visitor("192.0.2.2");
    push(&queue, one, 3);
    push(&queue, two, 3);
    Job *first = queue_pop(&queue), *second = queue_pop(&queue);
    assert_non_null(first);
    assert_non_null(second);
    assert_null(queue_pop(&queue));
    push(&queue, home, 1);
    Job *visit = queue_pop(&queue);
    assert_ptr_equal(visit->sender, home);
    assert_null(queue_pop(&queue));
    queue_done(&queue, first);
    assert_non_null(queue_pop(&queue));
    assert_null(queue_pop(&queue));
    queue_done(&queue, second);
    queue_done(&queue, visit);
    queue_done(&queue, second); // of the same owner as the one that runs
    empty(&queue);
    sender_leave(one);
    sender_leave(two);
    sender_leave(home);
}

static void a_full_queue_takes_from_the_owner_that_has_most(void **state) {
    (void)state;
    JobQueue queue = {0};
    Sender *flood = machine(1, "user 1"), *other = machine(2, "user 1"), *home = visitor("::/64");
    push(&queue, home, 2);
    push(&queue, flood, 2);
    push(&queue, other, 2);
    for (int i = 0; i < 2; i++)
        assert_ptr_not_equal(queue_drop(&queue)->sender, home);
    for (int i = 0; i < 4; i++)
        assert_non_null(queue_drop(&queue));
    assert_null(queue_drop(&queue));
    assert_null(queue_pop(&queue));
    push(&queue, home, 1); // the queue is as good as new
    assert_int_equal(position(&queue, home), 0);
    job_count = 0;
    sender_leave(flood);
    sender_leave(other);
    sender_leave(home);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_sender_is_one_by_name_and_owner),
        WITH(a_machine_has_eight_jobs_and_gets_the_place_of_an_ended_one),
        WITH(fifty_machines_of_one_account_have_a_job_each),
        WITH(machines_of_one_owner_together_have_sixty_four_jobs),
        WITH(bytes_are_bounded_by_sender_and_given_back),
        WITH(all_senders_together_fill_the_server),
        WITH(requests_and_streams_of_an_address_are_counted),
        WITH(an_address_has_eight_downloads),
        WITH(jobs_of_one_sender_come_in_their_order),
        WITH(a_visitor_waits_for_one_job_of_each_owner_before),
        WITH(many_machines_of_an_owner_are_one_turn_and_none_of_them_starves),
        WITH(an_owner_has_no_more_running_than_its_share),
        WITH(a_full_queue_takes_from_the_owner_that_has_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
