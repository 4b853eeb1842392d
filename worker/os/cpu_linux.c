// CPUs on Linux: lists them, finds those that share a core, and claims them.
#include "worker/os/host.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "server/common/str.h"

// The lowest CPU of the core that `cpu` belongs to; `cpu` itself if that is not known.
static int first_sibling(int cpu) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "re");
    int first = cpu;
    if (file) {
        if (fscanf(file, "%d", &first) != 1)
            first = cpu;
        fclose(file);
    }
    return first;
}

static void list_allowed(OsCpus *out) {
    size_t size = CPU_ALLOC_SIZE(OS_CPUS_MAX);
    cpu_set_t *set = CPU_ALLOC(OS_CPUS_MAX);
    out->count = 0;
    if (set && sched_getaffinity(0, size, set) == 0)
        for (int cpu = 0; cpu < OS_CPUS_MAX; cpu++)
            if (CPU_ISSET_S(cpu, size, set))
                out->ids[out->count++] = cpu;
    CPU_FREE(set);
}

// Whether an earlier CPU than the i-th is on the same core. cores[i] is the lowest CPU of the core.
static bool shares_core(const int *cores, int i) {
    for (int k = 0; k < i; k++)
        if (cores[k] == cores[i])
            return true;
    return false;
}

static void list_cores(const OsCpus *cpus, int *cores) {
    for (int i = 0; i < cpus->count; i++)
        cores[i] = first_sibling(cpus->ids[i]);
}

void os_cpus_allowed(OsCpus *out) {
    OsCpus all;
    int cores[OS_CPUS_MAX];
    list_allowed(&all);
    list_cores(&all, cores);
    out->count = 0;
    for (int second = 0; second < 2; second++)
        for (int i = 0; i < all.count; i++)
            if (shares_core(cores, i) == second)
                out->ids[out->count++] = all.ids[i];
}

int os_physical_cores(const OsCpus *cpus) {
    int cores[OS_CPUS_MAX], count = 0;
    list_cores(cpus, cores);
    for (int i = 0; i < cpus->count; i++)
        count += !shares_core(cores, i);
    return count;
}

// A CPU is claimed by binding a socket to an abstract name. Only one process can have the name, and
// the system frees it when that process ends.
static int cpu_lock(const char *kind, int cpu) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length =
        snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "patchmate-%s-%d", kind, cpu);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, size) == 0)
        return fd;
    close_fd(&fd);
    return -1;
}

static bool claim_kind(OsCpuClaim *claim, const char *kind, const OsCpus *allowed, int count) {
    claim->cpus.count = 0;
    for (int i = 0; i < allowed->count && claim->cpus.count < count; i++) {
        int lock = cpu_lock(kind, allowed->ids[i]);
        if (lock < 0)
            continue;
        claim->locks[claim->cpus.count] = lock;
        claim->cpus.ids[claim->cpus.count++] = allowed->ids[i];
    }
    if (claim->cpus.count == count)
        return true;
    os_cpus_release(claim);
    return false;
}

bool os_cpus_claim(OsCpuClaim *claim, const OsCpus *allowed, int count) {
    return claim_kind(claim, "cpu", allowed, count);
}

bool os_cpus_reserve(OsCpuClaim *claim, const OsCpus *allowed, int count) {
    return claim_kind(claim, "worker-cpu", allowed, count);
}

void os_cpus_release(OsCpuClaim *claim) {
    for (int i = 0; i < claim->cpus.count; i++)
        close_fd(&claim->locks[i]);
    claim->cpus.count = 0;
}

bool os_thread_pin(const int *ids, int count, Error *err) {
    size_t size = CPU_ALLOC_SIZE(OS_CPUS_MAX);
    cpu_set_t *set = CPU_ALLOC(OS_CPUS_MAX);
    if (!set)
        return error_set(err, 0, "", "out of memory");
    CPU_ZERO_S(size, set);
    for (int i = 0; i < count; i++)
        CPU_SET_S(ids[i], size, set);
    int failed = sched_setaffinity(0, size, set);
    CPU_FREE(set);
    return failed ? error_errno(err, "cannot bind to CPU %d", ids[0]) : true;
}
