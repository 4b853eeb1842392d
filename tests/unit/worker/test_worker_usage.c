// What processes use: real ones, each of which does one thing and then waits to be looked at.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/os/tree.h"

enum { MIB = 1 << 20, MUCH = 64 * MIB };
static char folder[] = "/var/tmp/patchmate-usage-XXXXXX";
static int told[2], pid;

static void ready(void) {
    if (write(told[1], "", 1) == 1)
        for (;;)
            pause();
}

// Runs `deed` in a child until that says that it is ready.
static void begin(void (*deed)(void), OsTree *tree) {
    char byte;
    assert_int_equal(pipe(told), 0);
    pid = fork();
    if (pid == 0) {
        deed();
        ready();
        _exit(1);
    }
    close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    *tree = (OsTree){0};
    os_tree_read(tree, pid);
}

static void end(OsTree *tree) {
    for (int i = 0; i < tree->count; i++)
        kill(tree->pids[i], SIGKILL);
    waitpid(pid, NULL, 0);
    close(told[0]);
    os_tree_release(tree);
}

static char *mapped; // what was mapped last
static int held;     // the file that was made last

static void map(size_t size, int flags, int fd) {
    mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (mapped == MAP_FAILED)
        _exit(1);
}

// ---- memory -------------------------------------------------------------------------------------

// What is read has a page table afterwards. It may have a page as well, as not every kernel shares
// one of zeros, so the page is given back. What a sanitizer reads of its own memory for each page
// is not, so it must not look on.
__attribute__((no_sanitize_address)) static void look_everywhere(void) {
    size_t step = 2 * MIB, size = (size_t)MUCH / 4096 * step;
    map(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    volatile char *bytes = mapped;
    madvise(mapped, size, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < size; at += step) {
        (void)bytes[at];
        madvise(mapped + at, 4096, MADV_DONTNEED);
    }
}

static void page_tables_count_as_memory(void **state) {
    (void)state;
    OsTree tree;
    OsTreeUse use;
    OsTreeMemory memory;
    begin(look_everywhere, &tree);
    os_tree_use(&tree, &use);
    os_tree_memory(&tree, &memory);
    end(&tree);
    assert_in_range(use.memory_bytes, MUCH, 2 * MUCH);
    assert_in_range(memory.own_bytes, MUCH, 2 * MUCH);
}

static void reserve(void) {
    map((size_t)1 << 36, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static void what_is_only_reserved_does_not_count(void **state) {
    (void)state;
    OsTree tree;
    OsTreeUse use;
    begin(reserve, &tree);
    os_tree_use(&tree, &use);
    end(&tree);
    assert_in_range(use.memory_bytes, 1, MUCH);
}

static void *fill_and_be_ready(void *ctx) {
    map(MUCH, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset(mapped, 1, MUCH);
    ready();
    return ctx;
}

static void leave_a_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, fill_and_be_ready, NULL);
    pthread_exit(NULL);
}

static bool first_thread_has_ended(void) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && strstr(text, ") Z ");
}

static void memory_counts_when_the_first_thread_has_ended(void **state) {
    (void)state;
    OsTree tree;
    OsTreeUse use;
    OsTreeMemory memory;
    begin(leave_a_thread, &tree);
    while (!first_thread_has_ended())
        usleep(1000);
    os_tree_use(&tree, &use);
    os_tree_memory(&tree, &memory);
    end(&tree);
    assert_in_range(use.memory_bytes, MUCH, 2 * MUCH);
    assert_in_range(memory.own_bytes, MUCH, 2 * MUCH);
}

static void share(void) {
    map(MUCH, MAP_SHARED | MAP_ANONYMOUS, -1);
    int done[2];
    char byte;
    if (pipe(done) < 0)
        _exit(1);
    memset(mapped, 1, MUCH);
    if (fork() == 0) {
        memset(mapped, 2, MUCH);
        if (write(done[1], "", 1) == 1)
            for (;;)
                pause();
    }
    if (read(done[0], &byte, 1) != 1)
        _exit(1);
}

static void shared_memory_counts_once(void **state) {
    (void)state;
    OsTree tree;
    OsTreeMemory memory;
    begin(share, &tree);
    os_tree_memory(&tree, &memory);
    bool shares = os_tree_shares(&tree);
    end(&tree);
    assert_in_range(memory.shared_bytes, MUCH, MUCH + MUCH / 4);
    assert_in_range(memory.own_bytes, 1, MUCH);
    assert_true(shares);
}

// A page of it stays mapped, and so all of it stays in memory.
static void share_and_forget(void) {
    map(MUCH, MAP_SHARED | MAP_ANONYMOUS, -1);
    memset(mapped, 1, MUCH);
    munmap(mapped + 4096, MUCH - 4096);
}

static void shared_memory_that_is_not_mapped_any_more_is_seen_to_be_there(void **state) {
    (void)state;
    OsTree tree;
    begin(share_and_forget, &tree);
    bool shares = os_tree_shares(&tree);
    end(&tree);
    assert_true(shares);
    begin(look_everywhere, &tree);
    shares = os_tree_shares(&tree);
    end(&tree);
    assert_false(shares);
}

// ---- disk ---------------------------------------------------------------------------------------

// A new file of the folder that has no name any more.
static void nameless(void) {
    char path[100];
    snprintf(path, sizeof path, "%s/file", folder);
    held = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (held < 0 || fallocate(held, 0, 0, MUCH) < 0 || unlink(path) < 0)
        _exit(1);
}

static void hold_open(void) {
    nameless();
}

static void hold_mapped(void) {
    nameless();
    map(MUCH, MAP_SHARED, held);
    map(MUCH, MAP_PRIVATE, held); // the same file, which counts once
    close(held);
    if (fork() == 0)
        for (;;)
            pause();
}

static void *hold_apart(void *ctx) {
    if (unshare(CLONE_FILES) == 0) {
        nameless();
        ready();
    }
    return ctx;
}

static void hold_open_in_a_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, hold_apart, NULL);
    for (;;)
        pause();
}

static int64_t held_by(void (*deed)(void), bool *more) {
    OsTree tree;
    begin(deed, &tree);
    *more = false;
    int64_t bytes = os_tree_folder(&tree, folder, more);
    end(&tree);
    return bytes;
}

static void deleted_files_count_while_they_are_open_or_mapped(void **state) {
    (void)state;
    bool more;
    assert_in_range(held_by(hold_open, &more), MUCH, MUCH + MIB);
    assert_false(more);
    assert_in_range(held_by(hold_open_in_a_thread, &more), MUCH, MUCH + MIB);
    assert_in_range(held_by(hold_mapped, &more), MUCH, MUCH + MIB);
    assert_true(more);
    assert_in_range(held_by(reserve, &more), 0, MIB);
    assert_false(more);
}

// All but a page of it is hidden.
static void hold_a_page(void) {
    nameless();
    map(4096, MAP_PRIVATE, held);
    close(held);
}

static void a_page_that_is_mapped_tells_of_a_file_without_a_name(void **state) {
    (void)state;
    bool more;
    assert_in_range(held_by(hold_a_page, &more), 4096, MIB);
    assert_true(more);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_tables_count_as_memory),
        cmocka_unit_test(what_is_only_reserved_does_not_count),
        cmocka_unit_test(memory_counts_when_the_first_thread_has_ended),
        cmocka_unit_test(shared_memory_counts_once),
        cmocka_unit_test(shared_memory_that_is_not_mapped_any_more_is_seen_to_be_there),
        cmocka_unit_test(deleted_files_count_while_they_are_open_or_mapped),
        cmocka_unit_test(a_page_that_is_mapped_tells_of_a_file_without_a_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
