// The reader threads: each has its database for as long as it works, to the end of its last job.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "server/db/db.h"
#include "server/loop/readers.h"
#include "sql/core.h"
#include "tests/kit/dice.h"

enum { THREADS = 32, ROUNDS = 24, LONGEST_US = 20000 };

static char folder[64];
static Senders *senders;
static Error err;
static atomic_int under_way;
static atomic_bool go_on;

static int make(void **state) {
    (void)state;
    char path[96];
    snprintf(folder, sizeof folder, "/tmp/test_readers.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/patchmate.db", folder);
    Db *db = db_open(path, false, &err);
    bool good = db && sql_setting_set(db, &err, .name = "colour", .value = "red");
    db_close(db);
    senders = senders_new();
    return good ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    senders_free(senders);
    return folder_remove(folder, &err) ? 0 : -1;
}

static bool can_read(Db *db) {
    char *colour scope(free_ptr) = sql_setting_get(db, "colour");
    return colour && strcmp(colour, "red") == 0;
}

// Reads before and after a pause, in which other readers are stopped.
static bool part_with_pause(Request *req, Response *res, Error *why) {
    (void)res;
    const useconds_t *pause = req->state;
    bool first = can_read(req->turn->db);
    atomic_fetch_add(&under_way, 1);
    while (!atomic_load(&go_on))
        usleep(1000);
    usleep(*pause);
    return (first && can_read(req->turn->db)) || error_set(why, 500, "", "it cannot be read");
}

// Of a sender of its own, so that all of them run at the same time.
static RequestData *new_request(int number, useconds_t *pause) {
    char name[16];
    snprintf(name, sizeof name, "n%d", number);
    RequestData *data = xcalloc(1, sizeof *data);
    data->sender = sender_enter(senders, SENDER_NETWORK, name, name);
    data->stage = STAGE_PART;
    data->path = "/games";
    data->req.state = pause;
    data->res.more = part_with_pause;
    data->job = (Job){.sender = data->sender, .request = data};
    str_init(&data->res.body, 100);
    return data;
}

static void end_request(RequestData *data) {
    assert_int_equal(data->stage, STAGE_SEND);
    assert_false(data->cut);
    str_release(&data->res.body);
    sender_leave(data->sender);
    free(data);
}

// The threads begin in an order of their own, and end in another.
static void a_reader_that_ends_takes_no_database_from_those_that_still_read(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        atomic_ulong commits = 0;
        useconds_t pauses[THREADS];
        int event_fd = eventfd(0, EFD_CLOEXEC);
        Readers *readers = readers_start(folder, THREADS, event_fd, &commits, &err);
        assert_non_null(readers);
        atomic_store(&under_way, 0);
        atomic_store(&go_on, false);
        for (int i = 0; i < THREADS; i++) {
            pauses[i] = (useconds_t)roll(LONGEST_US);
            assert_null(readers_push(readers, new_request(i, &pauses[i])));
        }
        while (atomic_load(&under_way) < THREADS)
            usleep(1000);
        atomic_store(&go_on, true);
        readers_stop(readers);
        RequestList list = readers_take(readers);
        assert_int_equal(list.count, THREADS);
        for (RequestData *data; (data = list_pop(&list));)
            end_request(data);
        readers_free(readers);
        close(event_fd);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        a_reader_that_ends_takes_no_database_from_those_that_still_read, make, drop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
