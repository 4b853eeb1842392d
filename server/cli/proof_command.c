// See proof_command.h.
#include "server/cli/proof_command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/rules/position.h"
#include "server/cli/cli.h"
#include "server/common/clock.h"
#include "server/common/str.h"
#include "server/proof/bundle.h"
#include "server/proof/evidence_check.h"

static void close_file(FILE **file) {
    if (*file)
        fclose(*file);
}

// The arguments DATA and ID.
static bool collect(char **argv, Evidence *out, Error *err) {
    long test;
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", argv[1]);
    if (!parse_long(argv[2], 1, INT32_MAX, &test))
        return error_set(err, 422, "bad_request", "'%s' is not the number of a test", argv[2]);
    if (access(path, F_OK) < 0)
        return error_set(err, 404, "", "there is no installation in %s", argv[1]);
    Db *db = db_open(path, true, err);
    bool good = db && evidence_collect(db, argv[1], test, time_now(), out, err);
    db_close(db);
    return good;
}

// ---- bundle -------------------------------------------------------------------------------------

static bool write_file(const Evidence *evidence, const char *data, const char *path, FILE *file,
                       BundleWritten *written, Error *err) {
    return bundle_write(evidence, data, file, written, err) &&
           ((fflush(file) == 0 && fsync(fileno(file)) == 0) ||
            error_errno(err, "cannot write %s", path));
}

static bool bundle(char **argv, const char *path, BundleWritten *written, Error *err) {
    Evidence evidence scope(evidence_release) = {0};
    if (!collect(argv, &evidence, err))
        return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FILE *file scope(close_file) = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file)
        return error_errno(err, "cannot create %s", path);
    bool good = write_file(&evidence, argv[1], path, file, written, err);
    if (!good)
        unlink(path);
    return good;
}

int command_bundle(int argc, char **argv) {
    Error err;
    BundleWritten written = {0};
    if (argc != 3 && argc != 4)
        return 2;
    char *path scope(free_ptr) = argc == 4 ? xstrdup(argv[3]) : xasprintf("test-%s.tar", argv[2]);
    if (!bundle(argv, path, &written, &err))
        return command_failed(&err);
    printf("%s is written: %" PRId64 " files, with the games of %" PRId64 " batches\n", path,
           written.members, written.games);
    if (written.missing)
        printf("The games of %" PRId64 " batches are not in it: they were deleted because the disk "
               "was full. `verify` cannot check them.\n",
               written.missing);
    printf("Anyone can check it: server verify %s\n", path);
    return 0;
}

// ---- verify, replay -----------------------------------------------------------------------------

static int judged(const Evidence *evidence) {
    rules_init();
    int64_t wrong = evidence_check(evidence, stdout);
    if (!wrong)
        printf("everything that can be checked holds\n");
    else
        printf("%" PRId64 " differences: do not trust this result before they are explained\n",
               wrong);
    return wrong ? 1 : 0;
}

// The file is mapped and not read: a long test has gigabytes of games.
static int verify(const char *bytes, size_t size) {
    Error err;
    Evidence evidence scope(evidence_release) = {0};
    Bundle *read scope(bundle_free) = NULL;
    if (!bundle_read(bytes, size, &evidence, &read, &err))
        return command_failed(&err);
    printf("holds  files: %" PRId64 " files have the bytes that SHA256SUMS lists\n",
           bundle_members(read));
    return judged(&evidence);
}

int command_verify(int argc, char **argv) {
    Error err;
    struct stat st;
    if (argc != 2)
        return 2;
    int fd scope(close_fd) = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0) {
        error_errno(&err, "cannot open %s", argv[1]);
        return command_failed(&err);
    }
    void *bytes = S_ISREG(st.st_mode) && st.st_size > 0
                      ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                      : MAP_FAILED;
    if (bytes == MAP_FAILED) {
        error_set(&err, 422, "", "%s is empty or no file: get the bundle again", argv[1]);
        return command_failed(&err);
    }
    int status = verify(bytes, (size_t)st.st_size);
    munmap(bytes, (size_t)st.st_size);
    return status;
}

int command_replay(int argc, char **argv) {
    Error err;
    Evidence evidence scope(evidence_release) = {0};
    if (argc != 3)
        return 2;
    return collect(argv, &evidence, &err) ? judged(&evidence) : command_failed(&err);
}
