// Durable writes: killed at any moment they leave the old file or the new one, and what else they
// leave is swept away, but never under a writer that lives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"

enum { SIZE = 32 << 10, KILLS = 40, WRITERS = 4, WRITES = 60 };

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/patchmate-file-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    Error err;
    (void)state;
    return folder_remove(folder, &err) ? 0 : -1;
}

static int entries(void) {
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static bool write_filled(const char *path, char letter) {
    static char bytes[SIZE];
    Error err;
    memset(bytes, letter, SIZE);
    return file_write_durable(path, bytes, SIZE, &err);
}

static void assert_whole(const char *path) {
    Error err;
    size_t size;
    char *bytes scope(free_ptr) = file_read(path, SIZE, &size, &err);
    assert_non_null(bytes);
    assert_int_equal(size, SIZE);
    for (size_t i = 1; i < size; i++)
        assert_int_equal(bytes[i], bytes[0]);
}

static pid_t start_writer(const char *path, int writes) {
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    bool fine = true;
    for (int i = 0; fine && i != writes; i++)
        fine = write_filled(path, (char)('a' + i % 26));
    _exit(fine ? 0 : 1);
}

static void killed_writers_leave_nothing_behind(void **state) {
    (void)state;
    char *path scope(free_ptr) = xasprintf("%s/file", folder);
    int most = 0;
    assert_true(write_filled(path, 'z'));
    for (int i = 0; i < KILLS || (most == 1 && i < 100 * KILLS); i++) {
        pid_t pid = start_writer(path, -1);
        usleep((useconds_t)(1000 + 700 * i % 9000));
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_whole(path);
        most = entries() > most ? entries() : most;
    }
    assert_true(most > 1); // or no kill met a write
    folder_sweep(folder);
    assert_int_equal(entries(), 1);
    assert_whole(path);
}

static void writers_that_live_are_not_disturbed(void **state) {
    (void)state;
    char *path scope(free_ptr) = xasprintf("%s/file", folder);
    pid_t writers[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        writers[i] = start_writer(path, WRITES);
    for (int left = WRITERS, status; left;) {
        folder_sweep(folder);
        for (int i = 0; i < WRITERS; i++)
            if (writers[i] && waitpid(writers[i], &status, WNOHANG) == writers[i]) {
                assert_int_equal(status, 0);
                writers[i] = 0;
                left--;
            }
    }
    assert_int_equal(entries(), 1);
    assert_whole(path);
}

static void only_temporaries_are_swept(void **state) {
    (void)state;
    static const char *const names[] = {"plain", "file.new-12345", "file.new-1234567",
                                        ".new-123456", "file.new"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path scope(free_ptr) = xasprintf("%s/%s", folder, names[i]);
        assert_true(write_filled(path, 'x'));
    }
    int before = entries();
    char *left scope(free_ptr) = xasprintf("%s/file.new-a1B2c3", folder);
    assert_true(write_filled(left, 'x'));
    folder_sweep(folder);
    assert_int_equal(entries(), before);
    assert_int_equal(access(left, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_writers_leave_nothing_behind, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(writers_that_live_are_not_disturbed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(only_temporaries_are_swept, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
