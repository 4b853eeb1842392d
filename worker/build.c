// See build.h. The work folder is the sandbox's /work while the build runs and is removed
// afterwards.
#include "build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../server/common/file.h"
#include "../server/common/hash.h"
#include "../server/common/log.h"
#include "job.h"
#include "unpack.h"

enum { BUILD_TMP_BYTES = 512 << 20 };

void build_release(Build *build) {
    free(build->folder);
    *build = (Build){0};
}

static void make_key(const Workshop *shop, const TaskBuild *recipe, const char *snapshot,
                     char key[SHA256_HEX_MAX]) {
    scope(str_release) Str all;
    str_init(&all, 1 << 20);
    char *env scope(free_ptr) = json_dumps(recipe->env, JSON_SORT_KEYS);
    str_printf(&all, "%s\n%s\n%s\n%s\n%s\n%s\n", snapshot, recipe->directory, recipe->command,
               recipe->binary, env, shop->compilers);
    for (int i = 0; i < recipe->file_count; i++)
        str_printf(&all, "%s %s\n", recipe->files[i].blob, recipe->files[i].path);
    sha256_hex(all.data, all.size, key);
}

// ---- what goes in
// --------------------------------------------------------------------------------

static bool copy_bytes(int from, int to) {
    char chunk[65536];
    for (ssize_t n; (n = read(from, chunk, sizeof chunk)) != 0;)
        if (n < 0 || write(to, chunk, (size_t)n) != n)
            return false;
    return true;
}

static bool copy_file(const char *from, const char *to, mode_t mode, Error *err) {
    int in scope(close_fd) = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out scope(close_fd) = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (in < 0 || out < 0 || !copy_bytes(in, out) || fsync(out) < 0)
        return error_errno(err, "cannot copy %s to %s", from, to);
    return true;
}

// The tree holds no links (unpack.h), so a checked path cannot lead out of it.
static bool lay_down(const Workshop *shop, const TaskFile *file, const char *work, Error *err) {
    char *from scope(free_ptr) = store_blob(shop->store, file->blob);
    char *to scope(free_ptr) = xasprintf("%s/%s", work, file->path);
    char *folder scope(free_ptr) = xstrdup(to);
    *strrchr(folder, '/') = 0;
    return folder_make(folder, err) && copy_file(from, to, 0644, err);
}

static BuildOutcome prepare(const Workshop *shop, const TaskBuild *recipe, const char *snapshot,
                            const char *work, Error *err) {
    if (!store_clear(work, err) || !folder_make(work, err))
        return BUILD_BROKEN;
    char *tar scope(free_ptr) = store_blob(shop->store, snapshot);
    if (!unpack_file(tar, work, err))
        return err->status == 422 ? BUILD_FAILED : BUILD_BROKEN;
    for (int i = 0; i < recipe->file_count; i++)
        if (!lay_down(shop, &recipe->files[i], work, err))
            return BUILD_BROKEN;
    return BUILD_DONE;
}

// ---- the build
// -----------------------------------------------------------------------------------

// NAME, value, …, NULL, borrowed from the recipe; make uses all CPUs that were offered.
static const char **env_list(json_t *env, const char *makeflags) {
    const char **list = xcalloc(2 * json_object_size(env) + 3, sizeof *list), *name;
    json_t *value;
    size_t n = 0;
    list[n++] = "MAKEFLAGS";
    list[n++] = makeflags;
    json_object_foreach(env, name, value) {
        list[n++] = name;
        list[n++] = json_string_value(value);
    }
    return list;
}

static BuildOutcome judge(const JobResult *result, Str *log, Error *err) {
    str_add(log, result->output.data, result->output.size);
    if (result->end == JOB_CANCELLED)
        return BUILD_CANCELLED;
    if (result->end == JOB_TIMED_OUT)
        error_set(err, 422, "build_failed", "the build took longer than %d s", BUILD_LIMIT_S);
    else if (result->status != 0)
        error_set(err, 422, "build_failed", "the build command ended with status %d",
                  result->status);
    else
        return BUILD_DONE;
    return BUILD_FAILED;
}

static BuildOutcome compile(const Workshop *shop, const TaskBuild *recipe, const char *work,
                            Str *log, Error *err) {
    char makeflags[24];
    snprintf(makeflags, sizeof makeflags, "-j%d", shop->cores > 1 ? shop->cores : 1);
    const char **env scope(free_ptr) = env_list(recipe->env, makeflags);
    scope(argv_release) Argv argv = {0};
    SandboxView view = {.folder = work,
                        .writable = true,
                        .inside = recipe->directory,
                        .env = env,
                        .tmp_bytes = BUILD_TMP_BYTES};
    OsLimits limits;
    sandbox_prefix(shop->sandbox, &view, &argv, &limits);
    argv_add_all(&argv, (const char *const[]){"/bin/sh", "-c", recipe->command, NULL});
    JobSpec job = {(const char *const *)argv.items, BUILD_LIMIT_S, shop->cancel, &limits};
    scope(job_result_release) JobResult result;
    if (!job_run(&job, &result, err))
        return BUILD_BROKEN;
    return judge(&result, log, err);
}

// ---- what comes out
// ------------------------------------------------------------------------------

// Only the named binary, and only as a regular file: the build could have left a link there.
static BuildOutcome take_binary(const TaskBuild *recipe, const char *work, const char *folder,
                                Error *err) {
    struct stat st;
    char *path scope(free_ptr) = xasprintf("%s/%s/%s", work, recipe->directory, recipe->binary);
    char *real scope(free_ptr) = realpath(path, NULL);
    char *to scope(free_ptr) = xasprintf("%s/engine", folder);
    if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || !real ||
        strncmp(real, work, strlen(work)) != 0) {
        error_set(err, 422, "build_failed", "the build made no file %s", recipe->binary);
        return BUILD_FAILED;
    }
    if (st.st_size > BINARY_MAX) {
        error_set(err, 422, "build_failed", "the build made a binary of %lld bytes",
                  (long long)st.st_size);
        return BUILD_FAILED;
    }
    return copy_file(real, to, 0755, err) ? BUILD_DONE : BUILD_BROKEN;
}

// The folder gets its name when it is whole; another worker may have been first.
static BuildOutcome keep(const char *made, const char *folder, Error *err) {
    if (rename(made, folder) == 0)
        return BUILD_DONE;
    if (errno == EEXIST || errno == ENOTEMPTY)
        return folder_remove(made, err) ? BUILD_DONE : BUILD_BROKEN;
    error_errno(err, "cannot keep %s", folder);
    return BUILD_BROKEN;
}

static BuildOutcome build_new(const Workshop *shop, const TaskBuild *recipe, const char *snapshot,
                              const Build *build, Str *log, Error *err) {
    char *work scope(free_ptr) = store_work(shop->store, "build");
    char *made scope(free_ptr) = store_work(shop->store, "made");
    BuildOutcome outcome = prepare(shop, recipe, snapshot, work, err);
    if (outcome == BUILD_DONE)
        outcome = compile(shop, recipe, work, log, err);
    if (outcome == BUILD_DONE && (!folder_remove(made, err) || !folder_make(made, err)))
        outcome = BUILD_BROKEN;
    if (outcome == BUILD_DONE)
        outcome = take_binary(recipe, work, made, err);
    if (outcome == BUILD_DONE)
        outcome = keep(made, build->folder, err);
    Error ignored;
    if (!store_clear(work, &ignored))
        log_warn("%s", ignored.message);
    return outcome;
}

BuildOutcome build_engine(const Workshop *shop, const TaskBuild *recipe, const char *snapshot,
                          Build *out, Str *log, Error *err) {
    *out = (Build){0};
    make_key(shop, recipe, snapshot, out->key);
    out->folder = store_build(shop->store, out->key);
    char *binary scope(free_ptr) = xasprintf("%s/engine", out->folder);
    if (store_hold(shop->store, out->folder) && access(binary, X_OK) == 0)
        return BUILD_DONE;
    log_info("building %.12s", snapshot);
    BuildOutcome outcome = build_new(shop, recipe, snapshot, out, log, err);
    if (outcome != BUILD_DONE || store_hold(shop->store, out->folder))
        return outcome;
    error_set(err, 0, "build_lost", "the build in %s is gone", out->folder);
    return BUILD_BROKEN;
}

enum { ENGINE_TMP_BYTES = 64 << 20 };

void build_command(const Workshop *shop, const Build *build, int64_t memory_bytes, Argv *argv,
                   OsLimits *limits) {
    SandboxView view = {
        .folder = build->folder, .tmp_bytes = ENGINE_TMP_BYTES, .memory_bytes = memory_bytes};
    const char *inside = sandbox_prefix(shop->sandbox, &view, argv, limits);
    argv_printf(argv, "%s/engine", inside);
}
