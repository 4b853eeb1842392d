// Reading an engine's output, with a pipe of our own in place of a process
// (worker/uci/engine_process.h).
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/common/str.h"
#include "worker/uci/engine_pipe.h"
#include "worker/uci/engine_process.h"

static const int64_t second_ns = 1000000000;

// `said` is what the engine has written when it is asked; then it has ended.
static EngineStatus search(const char *said, size_t size, int64_t limit_ns, EngineReply *reply) {
    static EngineProcess engine;
    scope(close_fd) int null = open("/dev/null", O_WRONLY);
    int out[2];
    assert_int_equal(pipe2(out, O_NONBLOCK), 0);
    assert_true(fcntl(out[1], F_SETPIPE_SZ, 1 << 20) >= (int)size);
    assert_int_equal(write(out[1], said, size), size);
    close(out[1]);
    engine =
        (EngineProcess){.cancel_fd = -1,
                        .read_at_ns = INT64_MAX / 2,
                        .process = {.pidfd = -1, .input = null, .output = out[0], .errors = -1}};
    assert_true(pipe_open(&engine));
    EngineStatus status = engine_go(&engine, "go\n", 3, limit_ns, reply);
    pipe_close(&engine);
    close(out[0]);
    return status;
}

static EngineStatus search_text(const char *said, int64_t limit_ns, EngineReply *reply) {
    return search(said, strlen(said), limit_ns, reply);
}

static void a_move_read_after_the_flag_fell_is_none(void **state) {
    (void)state;
    EngineReply reply;
    assert_int_equal(search_text("bestmove e2e4\n", 0, &reply), ENGINE_TIMEOUT);
    assert_int_equal(search_text("bestmove e2e4\n", 10 * second_ns, &reply), ENGINE_OK);
    assert_string_equal(reply.move, "e2e4");
    assert_in_range(reply.elapsed_ns, 1, 10 * second_ns);
}

static void a_line_without_its_end_is_no_answer(void **state) {
    (void)state;
    EngineReply reply;
    assert_int_equal(search_text("bestmove e7e8", 10 * second_ns, &reply), ENGINE_GONE);
}

static void the_last_exact_score_is_kept_over_later_bounds(void **state) {
    (void)state;
    EngineReply reply;
    assert_int_equal(search_text("info depth 7 score cp 31 nodes 10\n"
                                 "info depth 8 score cp 90 lowerbound nodes 20\n"
                                 "info depth 8 currmove e2e4\n"
                                 "bestmove e2e4\n",
                                 10 * second_ns, &reply),
                     ENGINE_OK);
    assert_int_equal(reply.info.score_cp, 31);
    assert_int_equal(reply.info.depth, 7);
    assert_int_equal(search_text("info depth 8 score cp 90 lowerbound nodes 20\nbestmove e2e4\n",
                                 10 * second_ns, &reply),
                     ENGINE_OK);
    assert_int_equal(reply.info.score_cp, 90);
    assert_int_equal(search_text("bestmove e2e4\n", 10 * second_ns, &reply), ENGINE_OK);
    assert_int_equal(reply.info.score_cp, UCI_SCORE_NONE);
}

// The tail of a long line must not pass for a line of its own.
static void a_line_longer_than_the_buffer_is_still_one_line(void **state) {
    (void)state;
    EngineReply reply;
    scope(str_release) Str said;
    str_init(&said, 1 << 20);
    str_puts(&said, "info string ");
    for (int i = 0; i < 20000; i++)
        str_puts(&said, "bestmove a1a1 ");
    str_puts(&said, "\nbestmove e2e4\nbestmove d2d4\n");
    assert_int_equal(search(said.data, said.size, 10 * second_ns, &reply), ENGINE_OK);
    assert_string_equal(reply.move, "e2e4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_move_read_after_the_flag_fell_is_none),
        cmocka_unit_test(a_line_without_its_end_is_no_answer),
        cmocka_unit_test(the_last_exact_score_is_kept_over_later_bounds),
        cmocka_unit_test(a_line_longer_than_the_buffer_is_still_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
