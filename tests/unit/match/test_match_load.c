// Where the time of processes goes, measured on real ones (worker/os/cpu_time.h,
// worker/match/clock_load.h).
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/match/clock_load.h"

static const int64_t ms_ns = 1000000;

static void burn_cpu(int64_t ns) {
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * INT64_C(1000000000) + now.tv_nsec < ns);
}

static void *burn_in_thread(void *arg) {
    burn_cpu(*(int64_t *)arg);
    pause();
    return NULL;
}

// A process that does `work` in a thread, or in a child of a child, says so, and stays.
static pid_t busy_process(int64_t work_ns, bool in_thread) {
    int done[2];
    char byte;
    assert_int_equal(pipe(done), 0);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t thread;
        setpgid(0, 0);
        if (in_thread)
            pthread_create(&thread, NULL, burn_in_thread, &work_ns);
        else if (fork() == 0 && fork() == 0)
            burn_cpu(work_ns);
        if (in_thread)
            usleep(100000);
        if (write(done[1], "x", 1) < 1 || pause())
            _exit(1);
    }
    for (int i = 0; i < (in_thread ? 1 : 3); i++)
        assert_int_equal(read(done[0], &byte, 1), 1);
    close(done[0]);
    close(done[1]);
    return pid;
}

static void end(pid_t pid) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void cpu_time_of_children_and_of_their_children_counts(void **state) {
    (void)state;
    OsMeter meter = {0};
    OsUsage usage;
    pid_t pid = busy_process(60 * ms_ns, false);
    os_meter_start(&meter, pid);
    bool told = os_meter_read(&meter, 0, &usage);
    int tasks = meter.count;
    os_meter_stop(&meter);
    end(pid);
    assert_true(told);
    assert_int_equal(tasks, 3);
    assert_in_range(usage.cpu_ns, 59 * ms_ns, 500 * ms_ns);
}

static void cpu_time_of_threads_counts(void **state) {
    (void)state;
    OsMeter meter = {0};
    OsUsage before = {0}, after = {0};
    pid_t pid = busy_process(40 * ms_ns, true);
    os_meter_start(&meter, pid);
    bool told = os_meter_read(&meter, 0, &before) && os_meter_read(&meter, 0, &after);
    int tasks = meter.count;
    os_meter_stop(&meter);
    end(pid);
    assert_true(told);
    assert_int_equal(tasks, 2);
    assert_true(after.cpu_ns >= before.cpu_ns);
}

static void a_process_that_has_ended_counts_until_it_is_reaped(void **state) {
    (void)state;
    OsMeter meter = {0};
    OsUsage usage;
    siginfo_t info;
    pid_t pid = busy_process(40 * ms_ns, true);
    os_meter_start(&meter, pid);
    int64_t before = os_meter_cpu(&meter);
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    int64_t after = os_meter_cpu(&meter);
    end(pid);
    bool still = os_meter_read(&meter, 0, &usage);
    os_meter_stop(&meter);
    assert_true(before > 0 && after >= before);
    assert_false(still);
}

static void waiting_for_a_cpu_counts_as_delay(void **state) {
    (void)state;
    OsCpus cpus;
    Error err;
    OsUsage before, after;
    os_cpus_allowed(&cpus);
    int begun[2];
    char byte;
    assert_int_equal(pipe(begun), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (!os_thread_pin(cpus.ids, 1, &err) || write(begun[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            ;
    }
    assert_int_equal(read(begun[0], &byte, 1), 1);
    close(begun[0]);
    close(begun[1]);
    assert_true(os_thread_pin(cpus.ids, 1, &err));
    int file = os_thread_usage_open();
    assert_true(os_thread_usage(file, &before));
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    burn_cpu(now.tv_sec * INT64_C(1000000000) + now.tv_nsec + 100 * ms_ns);
    assert_true(os_thread_usage(file, &after));
    close(file);
    end(pid);
    assert_true(os_thread_pin(cpus.ids, cpus.count, &err));
    assert_in_range(after.delay_ns - before.delay_ns, 20 * ms_ns, INT64_MAX);
}

static void an_empty_meter_measures_nothing(void **state) {
    (void)state;
    OsMeter meter = {0};
    OsUsage usage;
    assert_false(os_meter_read(&meter, 0, &usage));
    os_meter_stop(&meter);
    assert_false(os_thread_usage(-1, &usage));
}

static void stolen_time_never_goes_back(void **state) {
    (void)state;
    OsCpus cpus;
    os_cpus_allowed(&cpus);
    int64_t one = os_stolen_ns(cpus.ids, 1), all = os_stolen_ns(cpus.ids, cpus.count);
    assert_true(one >= 0 && one <= all);
    assert_true(os_stolen_ns(NULL, 0) <= os_stolen_ns(cpus.ids, cpus.count));
}

// ---- of a move ----------------------------------------------------------------------------------

// Uses CPU time in a way that a sum over living threads does not see, then stays: 20 threads, or 20
// processes, one after the other, of 5 ms each.
static void *burn_a_little(void *arg) {
    (void)arg;
    burn_cpu(5 * ms_ns);
    return NULL;
}

static void burn_in_helpers(bool in_threads) {
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pid_t pid = in_threads ? 0 : fork();
        if (in_threads) {
            pthread_create(&thread, NULL, burn_a_little, NULL);
            pthread_join(thread, NULL);
        } else if (pid == 0) {
            burn_cpu(5 * ms_ns);
            _exit(0);
        } else {
            waitpid(pid, NULL, 0);
        }
    }
}

static int64_t seen_of_helpers(bool in_threads) {
    int go[2] = {-1, -1}, done[2] = {-1, -1};
    char byte;
    OsMeter meter = {0};
    assert_true(pipe(go) == 0 && pipe(done) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (read(go[0], &byte, 1) == 1)
            burn_in_helpers(in_threads);
        if (write(done[1], "x", 1) < 1 || pause())
            _exit(1);
    }
    os_meter_start(&meter, pid);
    int64_t before = os_meter_cpu(&meter);
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(read(done[0], &byte, 1), 1);
    int64_t after = os_meter_cpu(&meter);
    os_meter_stop(&meter);
    end(pid);
    for (int i = 0; i < 2; i++) {
        close(go[i]);
        close(done[i]);
    }
    assert_true(before >= 0);
    return after - before;
}

// 100 ms, less two ticks in which the system tells the time of ended processes.
static void helpers_that_have_ended_count(void **state) {
    (void)state;
    assert_in_range(seen_of_helpers(true), 99 * ms_ns, 2000 * ms_ns);
    assert_in_range(seen_of_helpers(false), 79 * ms_ns, 2000 * ms_ns);
}

static void only_moves_of_some_length_are_measured(void **state) {
    (void)state;
    static EngineProcess engine;
    EngineSpec spec = {.threads = 1};
    SlotLoad slot;
    OsUsage usage;
    engine = (EngineProcess){.spec = &spec, .worked_since = true};
    pid_t pid = busy_process(30 * ms_ns, true);
    os_meter_start(&engine.meter, pid);
    load_open(&slot, NULL, 0);
    load_rest_begins(&engine);
    load_move_begins(&slot, &engine);
    assert_false(engine.worked_since);
    load_move_ended(&slot, &engine, 4 * ms_ns, &usage);
    assert_true(engine.worked_since);
    assert_true(usage.cpu_ns == -1 && usage.delay_ns == -1);
    load_move_ended(&slot, &engine, 50 * ms_ns, &usage);
    load_close(&slot);
    os_meter_stop(&engine.meter);
    end(pid);
    assert_in_range(usage.cpu_ns, 0, 20 * ms_ns);
    assert_in_range(usage.delay_ns, 0, 50 * ms_ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_time_of_children_and_of_their_children_counts),
        cmocka_unit_test(cpu_time_of_threads_counts),
        cmocka_unit_test(a_process_that_has_ended_counts_until_it_is_reaped),
        cmocka_unit_test(waiting_for_a_cpu_counts_as_delay),
        cmocka_unit_test(an_empty_meter_measures_nothing),
        cmocka_unit_test(stolen_time_never_goes_back),
        cmocka_unit_test(helpers_that_have_ended_count),
        cmocka_unit_test(only_moves_of_some_length_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
