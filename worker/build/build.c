// See build.h.
//
// In a sandbox with namespaces a build writes to memory alone: the sources lie read-only before it,
// a script copies them to its /tmp, and the binary goes to the one file of the host that it can
// write. Below that, it works in a folder of the host, whose size is watched. Either way the folder
// is removed afterwards.
#include "worker/build/build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/bytes_text.h"
#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/common/log.h"
#include "worker/build/place_files.h"
#include "worker/build/unpack.h"
#include "worker/os/host.h"
#include "worker/sandbox/job.h"

enum { ROOM_LEAST_BYTES = 1 << 20 };

void build_release(Build *build) {
    free(build->folder);
    free(build->start);
    *build = (Build){0};
}

static void make_key(const BuildContext *context, const TaskBuild *recipe, const char *snapshot,
                     char key[SHA256_HEX_MAX]) {
    scope(str_release) Str all;
    str_init(&all, 1 << 20);
    char *env scope(free_ptr) = json_dumps(recipe->env, JSON_SORT_KEYS);
    str_printf(&all, "%s\n%s\n%s\n%s\n%s\n%s\n", snapshot, recipe->directory, recipe->command,
               recipe->binary, env, context->compilers);
    for (int i = 0; i < recipe->files.count; i++)
        str_printf(&all, "%s at %s\n", recipe->files.items[i].blob, recipe->files.items[i].path);
    sha256_hex(all.data, all.size, key);
}

// ---- what goes in -------------------------------------------------------------------------------

// In the work folder; the kept build has one with the recipe's files alone.
#define TREE "tree"
#define TMP "tmp"
#define RESULT "result"

static BuildOutcome prepare(const BuildContext *context, const TaskBuild *recipe,
                            const char *snapshot, const char *work, Error *err) {
    char *tree scope(free_ptr) = xasprintf("%s/" TREE, work);
    char *tmp scope(free_ptr) = xasprintf("%s/" TMP, work);
    char *result scope(free_ptr) = xasprintf("%s/" RESULT, work);
    if (!store_clear(work, err) || !folder_make(tree, err) || !folder_make(tmp, err) ||
        !file_write_durable(result, "", 0, err))
        return BUILD_BROKEN;
    char *tar scope(free_ptr) = store_blob(context->store, snapshot);
    if (!unpack_file(tar, tree, err))
        return err->status == 422 ? BUILD_FAILED : BUILD_BROKEN;
    return place_files(context->store, &recipe->files, tree, err);
}

// ---- the build ----------------------------------------------------------------------------------

// NAME, value, …, NULL, borrowed from the recipe; make uses all CPUs that were offered. `tmp`:
// where temporary files go; NULL: /tmp.
static const char **env_list(json_t *env, const char *makeflags, const char *tmp) {
    const char **list = xcalloc(2 * json_object_size(env) + 7, sizeof *list), *name;
    json_t *value;
    size_t n = 0;
    list[n++] = "MAKEFLAGS";
    list[n++] = makeflags;
    if (tmp) {
        list[n++] = "TMPDIR";
        list[n++] = tmp;
        list[n++] = "HOME";
        list[n++] = tmp;
    }
    json_object_foreach (env, name, value) {
        list[n++] = name;
        list[n++] = json_string_value(value);
    }
    return list;
}

static int time_limit(const BuildContext *context) {
    return context->limit_s ? context->limit_s : BUILD_LIMIT_S;
}

// How the script below ends if another step than the build command fails. The status of the
// command is lower.
enum { END_NO_ROOM = 200, END_NO_BINARY, END_NO_FILE, END_TOO_LARGE };
#define STATUS_MOST "199"

static const char script[] = // directory, binary, command
    "mkdir /tmp/build && cp -R " SANDBOX_FOLDER
    "/. /tmp/build && cd \"/tmp/build/$1\" || exit 200\n"
    "/bin/sh -c \"$3\"\n"
    "s=$?; [ $s -le " STATUS_MOST " ] || s=" STATUS_MOST "; [ $s -eq 0 ] || exit $s\n"
    "[ -e \"./$2\" ] || [ -L \"./$2\" ] || exit 201\n"
    "[ -f \"./$2\" ] && [ ! -L \"./$2\" ] || exit 202\n"
    "cat \"./$2\" >" SANDBOX_RESULT " || exit 203\n";

static const char no_file[] =
    "the build made no file %s: what lies there is a link, a folder, a pipe or a device";
static const char too_large[] = "the build made no file %s of at most %d MiB";

static void describe_status(int status, const char *binary, Error *err) {
    if (status == END_NO_ROOM)
        error_set(err, 422, "build_failed",
                  "the sources do not fit into %d MiB, or hold no such "
                  "folder as the build names",
                  BUILD_DISK_MIB);
    else if (status == END_NO_BINARY)
        error_set(err, 422, "build_failed", "the build made no file %s", binary);
    else if (status == END_NO_FILE)
        error_set(err, 422, "build_failed", no_file, binary);
    else if (status == END_TOO_LARGE)
        error_set(err, 422, "build_failed", too_large, binary, BINARY_MAX >> 20);
    else if (status > 128)
        error_set(err, 422, "build_failed", "the build command was killed by signal %d",
                  status - 128);
    else
        error_set(err, 422, "build_failed", "the build command ended with status %d", status);
}

static BuildOutcome judge(const BuildContext *context, const JobResult *result, const char *binary,
                          Str *log, Error *err) {
    bytes_text_add(log, result->output.data, result->output.size);
    if (result->end == JOB_CANCELLED)
        return BUILD_CANCELLED;
    if (result->end == JOB_TIMED_OUT)
        error_set(err, 422, "build_failed", "the build took longer than %d s", time_limit(context));
    else if (*result->limit_exceeded)
        error_set(err, 422, "build_failed", "the build was ended: it %s", result->limit_exceeded);
    else if (result->status != 0)
        describe_status(result->status, binary, err);
    else
        return BUILD_DONE;
    return BUILD_FAILED;
}

static int64_t build_memory(const BuildContext *context) {
    int64_t most = BUILD_MEMORY_MIB + (int64_t)BUILD_MEMORY_CORE_MIB * context->cores;
    int64_t offered =
        context->memory_mib > BUILD_MEMORY_LEAST_MIB ? context->memory_mib : BUILD_MEMORY_LEAST_MIB;
    return (context->memory_mib && offered < most ? offered : most) << 20;
}

// What both kinds of build share.
static SandboxView build_view(const BuildContext *context, const char *const *env) {
    return (SandboxView){.env = env,
                         .tmp_bytes = (int64_t)BUILD_DISK_MIB << 20,
                         .memory_bytes = build_memory(context),
                         .processes = BUILD_PROCESSES + BUILD_PROCESSES_CORE * context->cores,
                         .file_bytes = BINARY_MAX,
                         .cpu_s = (int64_t)time_limit(context)};
}

static BuildOutcome run_build(const BuildContext *context, const TaskBuild *recipe,
                              const SandboxView *view, const char *const *command, Str *log,
                              Error *err) {
    scope(argv_release) Argv argv = {0};
    OsLimits limits;
    sandbox_prefix(context->sandbox, view, &argv, &limits);
    argv_add_all(&argv, command);
    JobSpec job = {(const char *const *)argv.items, time_limit(context), context->cancel, &limits};
    scope(job_result_release) JobResult result;
    if (!job_run(&job, &result, err))
        return BUILD_BROKEN;
    return judge(context, &result, recipe->binary, log, err);
}

static BuildOutcome compile(const BuildContext *context, const TaskBuild *recipe, const char *work,
                            Str *log, Error *err) {
    bool apart = sandbox_has_namespaces(context->sandbox);
    char makeflags[24];
    char *tree scope(free_ptr) = xasprintf("%s/" TREE, work);
    char *tmp scope(free_ptr) = xasprintf("%s/" TMP, work);
    char *out scope(free_ptr) = xasprintf("%s/" RESULT, work);
    char *inside scope(free_ptr) = xasprintf(TREE "/%s", recipe->directory);
    snprintf(makeflags, sizeof makeflags, "-j%d", context->cores > 1 ? context->cores : 1);
    const char **env scope(free_ptr) = env_list(recipe->env, makeflags, apart ? NULL : tmp);
    SandboxView view = build_view(context, env);
    if (apart) {
        view.folder = tree;
        view.result = out;
        return run_build(context, recipe, &view,
                         (const char *const[]){"/bin/sh", "-c", script, "build", recipe->directory,
                                               recipe->binary, recipe->command, NULL},
                         log, err);
    }
    view.folder = work;
    view.writable = true;
    view.inside = inside;
    return run_build(context, recipe, &view,
                     (const char *const[]){"/bin/sh", "-c", recipe->command, NULL}, log, err);
}

// ---- what comes out -----------------------------------------------------------------------------

static bool copy_to(int in, const char *to, mode_t mode, Error *err) {
    int out scope(close_fd) = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (out < 0 || !fd_copy(in, out) || fsync(out) < 0)
        return error_errno(err, "cannot write %s", to);
    return true;
}

// Only the named binary, and only as a regular file: the build could have left anything there.
static BuildOutcome take_binary(const BuildContext *context, const TaskBuild *recipe,
                                const char *work, const char *folder, Error *err) {
    struct stat st;
    bool apart = sandbox_has_namespaces(context->sandbox);
    char *path scope(free_ptr) =
        apart ? xstrdup(RESULT) : xasprintf(TREE "/%s/%s", recipe->directory, recipe->binary);
    char *to scope(free_ptr) = xasprintf("%s/engine", folder);
    int in scope(close_fd) = unpack_open(work, path);
    if (in < 0 && errno == ENOENT)
        describe_status(END_NO_BINARY, recipe->binary, err);
    else if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode))
        describe_status(END_NO_FILE, recipe->binary, err);
    else if (st.st_size > BINARY_MAX)
        describe_status(END_TOO_LARGE, recipe->binary, err);
    else
        return copy_to(in, to, 0755, err) ? BUILD_DONE : BUILD_BROKEN;
    return BUILD_FAILED;
}

// A net is loaded when the engine starts, by a path that the recipe chose: the files lie beside the
// binary as they lay in the tree, and the engine starts where its build did.
static BuildOutcome keep_files(const BuildContext *context, const TaskBuild *recipe,
                               const char *folder, Error *err) {
    char *tree scope(free_ptr) = xasprintf("%s/" TREE, folder);
    char *start scope(free_ptr) = xasprintf("%s/%s", tree, recipe->directory);
    if (!recipe->files.count)
        return BUILD_DONE;
    return folder_make(start, err) ? place_files(context->store, &recipe->files, tree, err)
                                   : BUILD_BROKEN;
}

// The folder gets its name when it is complete; another worker may have made it first.
static BuildOutcome keep(const char *made, const char *folder, Error *err) {
    if (rename(made, folder) == 0)
        return BUILD_DONE;
    if (errno == EEXIST || errno == ENOTEMPTY)
        return folder_remove(made, err) ? BUILD_DONE : BUILD_BROKEN;
    error_errno(err, "cannot store %s", folder);
    return BUILD_BROKEN;
}

// A build that fails on a full disk is not the patch's fault. The work folder still exists here.
static BuildOutcome blame(BuildOutcome outcome, const char *work, Error *err) {
    int64_t room = os_disk_free(work);
    if (outcome != BUILD_FAILED || room < 0 || room >= ROOM_LEAST_BYTES)
        return outcome;
    error_set(err, 503, "disk_full", "the disk of this machine became full during the build");
    return BUILD_BROKEN;
}

static BuildOutcome build_new(const BuildContext *context, const TaskBuild *recipe,
                              const char *snapshot, const Build *build, Str *log, Error *err) {
    char *work scope(free_ptr) = store_work(context->store, "build");
    char *made scope(free_ptr) = store_work(context->store, "made");
    BuildOutcome outcome = prepare(context, recipe, snapshot, work, err);
    if (outcome == BUILD_DONE)
        outcome = blame(compile(context, recipe, work, log, err), work, err);
    if (outcome == BUILD_DONE && (!folder_remove(made, err) || !folder_make(made, err)))
        outcome = BUILD_BROKEN;
    if (outcome == BUILD_DONE)
        outcome = take_binary(context, recipe, work, made, err);
    if (outcome == BUILD_DONE)
        outcome = keep_files(context, recipe, made, err);
    if (outcome == BUILD_DONE)
        outcome = keep(made, build->folder, err);
    Error ignored;
    if (!store_clear(work, &ignored))
        log_warn("%s", ignored.message);
    return outcome;
}

BuildOutcome build_engine(const BuildContext *context, const TaskBuild *recipe,
                          const char *snapshot, Build *out, Str *log, Error *err) {
    *out = (Build){0};
    make_key(context, recipe, snapshot, out->key);
    out->folder = store_build(context->store, out->key);
    out->start = recipe->files.count ? xasprintf(TREE "/%s", recipe->directory) : NULL;
    char *binary scope(free_ptr) = xasprintf("%s/engine", out->folder);
    if (store_hold(context->store, out->folder) && access(binary, X_OK) == 0)
        return BUILD_DONE;
    log_info("building %.12s", snapshot);
    BuildOutcome outcome = build_new(context, recipe, snapshot, out, log, err);
    if (outcome != BUILD_DONE || store_hold(context->store, out->folder))
        return outcome;
    error_set(err, 0, "build_lost", "the build in %s is gone", out->folder);
    return BUILD_BROKEN;
}

void build_command(const BuildContext *context, const Build *build, int64_t memory_bytes,
                   Argv *argv, OsLimits *limits) {
    int64_t tmp_bytes = (int64_t)ENGINE_TMP_MIB << 20;
    SandboxView view = {.folder = build->folder,
                        .plays = true,
                        .inside = build->start,
                        .tmp_bytes = tmp_bytes,
                        .file_bytes = tmp_bytes,
                        .memory_bytes = memory_bytes,
                        .processes = ENGINE_PROCESSES + context->cores};
    const char *inside = sandbox_prefix(context->sandbox, &view, argv, limits);
    argv_printf(argv, "%s/engine", inside);
}
