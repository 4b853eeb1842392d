// See watchdog.h. One thread checks all children that have limits. It checks often if a check is
// cheap, and sleeps without a timer while there are no such children.
#include "worker/os/watchdog.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/os/guard.h"
#include "worker/os/process.h"
#include "worker/os/thread.h"
#include "worker/os/tree.h"

// The time between two checks is look_ns at least, and longer if checks are slow, so that the
// thread uses at most 1/50 of a CPU. But it is at most rest_max_ns, so that a program cannot delay
// the next check for long by making a check slow.
static const int64_t look_ns = 50 * 1000000, rest_factor = 49, rest_max_ns = 2000000000;

struct OsWatch {
    OsWatch *next, *previous;
    int pid;
    uint64_t number;
    const OsLimits *limits; // NULL: nothing to check, or not any more
    OsJobGroup group;
    OsSystemUse before; // when the child was started
    atomic_bool limit_exceeded;
    char verdict[96];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; // signalled when `limited` becomes positive
    OsWatch *first;
    uint64_t numbers;
    int limited; // entries with limits
    bool looking, adopting;
} table = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0, 0, false, false};

void os_watch_lock(void) {
    pthread_mutex_lock(&table.lock);
}

void os_watch_unlock(void) {
    pthread_mutex_unlock(&table.lock);
}

// ---- checking -----------------------------------------------------------------------------------

static void end_all(const OsWatch *watch, const OsTree *tree) {
    if (watch->limits->confined) { // the keeper kills them
        os_job_group_kill(&watch->group);
        kill(watch->pid, SIGTERM);
        return;
    }
    kill(-watch->pid, SIGKILL);
    for (int i = 0; i < tree->count; i++)
        kill(tree->pids[i], SIGKILL);
}

// How much of the kernel's own memory counts as the job's. Mappings are counted, whatever the
// growth of that memory: the kernel keeps what an earlier job had, and a later one fills it again
// without any growth. Of descriptors and threads only the most is known, so no more than the
// growth counts, in which other programs have a part. What is small in all does not count.
// `room_bytes` is left until the limit.
static int64_t kernel_memory(const OsTree *tree, const OsTreeUse *use, int64_t growth,
                             int64_t room_bytes) {
    enum { SMALL_BYTES = 64 << 20 };
    int64_t enough = (room_bytes > SMALL_BYTES ? room_bytes : SMALL_BYTES) + 1;
    int64_t others = growth < use->kernel_bytes ? growth : use->kernel_bytes;
    int64_t all = os_tree_mappings(tree, enough) + (others > 0 ? others : 0);
    return all < SMALL_BYTES ? 0 : all;
}

typedef enum { MEMORY_FITS, MEMORY_TOO_MUCH, MEMORY_OF_KERNEL } MemoryVerdict;

static MemoryVerdict judge_memory(const OsWatch *watch, const OsTree *tree, const OsTreeUse *use) {
    const OsLimits *l = watch->limits;
    OsSystemUse now;
    OsTreeMemory memory;
    os_system_use(NULL, &now);
    int64_t growth = now.shared_bytes - watch->before.shared_bytes;
    int64_t kernel = now.kernel_bytes - watch->before.kernel_bytes;
    int64_t tmpfs = l->tmpfs ? os_tree_tmpfs(tree, l->tmpfs, l->tmpfs_bytes) : 0;
    if (use->table_bytes > l->memory_bytes)
        return MEMORY_TOO_MUCH; // the exact check would have to walk all these tables
    bool hides = growth > 0 && use->memory_bytes + growth > l->memory_bytes && os_tree_shares(tree);
    int64_t room = l->memory_bytes - use->memory_bytes - tmpfs;
    if (!hides && room >= 0 && kernel_memory(tree, use, kernel, room) <= room)
        return MEMORY_FITS;
    os_tree_memory(tree, &memory);
    int64_t shared = memory.shared_bytes + tmpfs;
    if (hides && growth > shared)
        shared = growth;
    room = l->memory_bytes - memory.own_bytes - shared;
    if (room < 0)
        return MEMORY_TOO_MUCH;
    return kernel_memory(tree, use, kernel, room) > room ? MEMORY_OF_KERNEL : MEMORY_FITS;
}

static bool uses_too_much_disk(const OsWatch *watch, const OsTree *tree) {
    const OsLimits *l = watch->limits;
    OsSystemUse now;
    bool more = false;
    if (os_tree_folder(tree, l->folder, &more) > l->folder_bytes)
        return true;
    os_system_use(l->folder, &now);
    return more && now.disk_bytes - watch->before.disk_bytes > l->folder_bytes;
}

static void say_memory(OsWatch *watch, const char *more) {
    snprintf(watch->verdict, sizeof watch->verdict, "used more than %" PRId64 " MiB of memory%s",
             watch->limits->memory_bytes >> 20, more);
}

// Whether the kernel ended the job for its memory; then the verdict is set.
static bool ran_out(OsWatch *watch) {
    if (!watch->limits || !watch->limits->memory_bytes || !os_job_group_ran_out(&watch->group))
        return false;
    say_memory(watch, "");
    return true;
}

// Whether a limit is exceeded; then the verdict is set.
static bool judge(OsWatch *watch, const OsTree *tree) {
    const OsLimits *l = watch->limits;
    MemoryVerdict memory = MEMORY_FITS;
    OsTreeUse use = {.processes = tree->count}; // enough if this alone exceeds the limit
    if (!l->processes || tree->count <= l->processes)
        os_tree_use(tree, &use);
    if (l->processes && use.processes > l->processes)
        snprintf(watch->verdict, sizeof watch->verdict, "ran more than %d processes at a time",
                 l->processes);
    else if (l->memory_bytes && (memory = judge_memory(watch, tree, &use)) != MEMORY_FITS)
        say_memory(watch, memory == MEMORY_OF_KERNEL ? ", the kernel's for it included" : "");
    else if (l->folder && uses_too_much_disk(watch, tree))
        snprintf(watch->verdict, sizeof watch->verdict, "used more than %" PRId64 " MiB of disk",
                 l->folder_bytes >> 20);
    else
        return false;
    return true;
}

static void look_at(OsWatch *watch) {
    OsTree tree scope(os_tree_release) = {0};
    if (watch->limits->confined) // the keeper itself does not count
        os_tree_read_below(&tree, watch->pid);
    else
        os_tree_read(&tree, watch->pid);
    if (!ran_out(watch) && !judge(watch, &tree))
        return;
    atomic_store(&watch->limit_exceeded, true);
    end_all(watch, &tree);
}

// The first child after `number` that has limits and has not exceeded one.
static OsWatch *next_limited(uint64_t number) {
    OsWatch *best = NULL;
    for (OsWatch *w = table.first; w; w = w->next)
        if (w->limits && !atomic_load(&w->limit_exceeded) && w->number > number &&
            (!best || w->number < best->number))
            best = w;
    return best;
}

// Releases the lock between two children, so that other threads need not wait long to start one.
static void look_at_all(void) {
    uint64_t number = 0;
    for (bool more = true; more;) {
        os_watch_lock();
        OsWatch *watch = next_limited(number);
        more = watch != NULL;
        if (watch) {
            number = watch->number;
            look_at(watch);
        }
        os_watch_unlock();
    }
}

static void *look(void *ctx) {
    (void)ctx;
    os_thread_block_signals();
    for (;;) {
        os_watch_lock();
        while (table.limited == 0)
            pthread_cond_wait(&table.work, &table.lock);
        os_watch_unlock();
        struct timespec before, after;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
        look_at_all();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
        int64_t cost_ns =
            (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + (after.tv_nsec - before.tv_nsec);
        int64_t rest_ns = cost_ns * rest_factor;
        rest_ns = rest_ns < look_ns ? look_ns : rest_ns > rest_max_ns ? rest_max_ns : rest_ns;
        nanosleep(&(struct timespec){rest_ns / 1000000000, rest_ns % 1000000000}, NULL);
    }
    return NULL;
}

// ---- the table ----------------------------------------------------------------------------------

static bool has_limits(const OsLimits *limits) {
    return limits && (limits->memory_bytes || limits->folder || limits->processes);
}

static void start_looking(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, look, NULL) != 0)
        fatal("cannot start a thread");
    pthread_detach(thread);
    table.looking = true;
}

OsWatch *os_watch_add(int pid, const OsLimits *limits, const OsJobGroup *group) {
    OsWatch *watch = xcalloc(1, sizeof *watch);
    watch->pid = pid;
    watch->group = *group;
    watch->number = ++table.numbers;
    watch->limits = has_limits(limits) ? limits : NULL;
    watch->next = table.first;
    if (table.first)
        table.first->previous = watch;
    table.first = watch;
    if (watch->limits) {
        os_system_use(limits->folder, &watch->before);
        table.limited++;
        if (!table.looking)
            start_looking();
        pthread_cond_signal(&table.work);
    }
    return watch;
}

void os_watch_end(OsWatch *watch) {
    os_watch_lock();
    table.limited -= watch->limits != NULL;
    watch->limits = NULL;
    os_watch_unlock();
}

void os_watch_remove(OsWatch *watch) {
    os_watch_lock();
    *(watch->previous ? &watch->previous->next : &table.first) = watch->next;
    if (watch->next)
        watch->next->previous = watch->previous;
    os_watch_unlock();
    free(watch);
}

// The kernel may have ended the job since the watchdog looked at it last.
const char *os_watch_verdict(OsWatch *watch) {
    os_watch_lock();
    if (!atomic_load(&watch->limit_exceeded) && ran_out(watch))
        atomic_store(&watch->limit_exceeded, true);
    os_watch_unlock();
    return atomic_load(&watch->limit_exceeded) ? watch->verdict : NULL;
}

// ---- orphans ------------------------------------------------------------------------------------

void os_become_subreaper(void) {
    os_watch_lock();
    table.adopting = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    os_watch_unlock();
}

static bool is_known(int pid) {
    if (pid == os_guard_pid())
        return true;
    for (const OsWatch *w = table.first; w; w = w->next)
        if (w->pid == pid)
            return true;
    return false;
}

// Kills the processes that belong to no living child. `tree` then holds their ids.
static void kill_strays(OsTree *tree) {
    int orphans = 0, own_group = getpgrp();
    os_children_read(tree);
    for (int i = 0; i < tree->count; i++) {
        int pid = tree->pids[i], group = getpgid(pid);
        if (is_known(pid) || is_known(group))
            continue;
        if (group > 0 && group != own_group)
            kill(-group, SIGKILL);
        kill(pid, SIGKILL);
        tree->pids[orphans++] = pid;
    }
    tree->count = orphans;
}

// When an orphan ends, this process becomes the parent of its children. Therefore there are rounds.
void os_watch_sweep(void) {
    enum { ROUNDS_MAX = 1000 };
    OsTree tree scope(os_tree_release) = {0};
    for (int round = 0; round < ROUNDS_MAX; round++) {
        os_watch_lock();
        bool adopting = table.adopting;
        if (adopting)
            kill_strays(&tree);
        os_watch_unlock();
        if (!adopting || tree.count == 0)
            return;
        for (int i = 0; i < tree.count; i++)
            waitpid(tree.pids[i], NULL, 0);
    }
}
