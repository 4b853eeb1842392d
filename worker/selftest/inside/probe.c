// Prints what a program can reach in the place where it runs, a line for each fact. The self-test
// and a test build it as a stranger's program, and run it in a build, at bench and in play. level_1
// and level_2 hold the lines that are allowed. -DPROBE_MAIN makes a program, else it is a function.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TEXT_MAX = 6000,
    PATH_ROOM = 600,
    UP_MAX = 12,
    PIDS_MAX = 70000,
    FAMILIES = 46,
    FACTS_MAX = 4000
};

extern char **environ;
static FILE *out;
static char *said[FACTS_MAX];
static int said_count;

// One line, whatever is in it, and no line twice.
static void fact(const char *format, ...) {
    char line[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
            *c = ' ';
    for (int i = 0; i < said_count; i++)
        if (strcmp(said[i], line) == 0)
            return;
    if (said_count < FACTS_MAX)
        said[said_count++] = strdup(line);
    fprintf(out, "fact %s\n", line);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

// The words of a list.
static void for_each_of(const char *list, void (*act)(const char *word)) {
    char word[PATH_ROOM];
    for (; *list; list += strspn(list, " ")) {
        size_t size = strcspn(list, " ");
        snprintf(word, sizeof word, "%.*s", (int)size, list);
        act(word);
        list += size;
    }
}

// ---- what it was given --------------------------------------------------------------------------

static void show_descriptors(void) {
    for (int fd = 0; fd < 1024; fd++) {
        struct stat st;
        if (fcntl(fd, F_GETFD) < 0 || fstat(fd, &st) < 0)
            continue;
        fact("descriptor %d %s", fd,
             S_ISFIFO(st.st_mode)   ? "pipe"
             : S_ISSOCK(st.st_mode) ? "socket"
             : S_ISDIR(st.st_mode)  ? "folder"
             : S_ISCHR(st.st_mode)  ? "device"
             : S_ISREG(st.st_mode)  ? "file"
                                    : "other");
    }
}

static void show_identity(void) {
    static const char *const names[] = {
        "cpu",     "fsize", "data",  "stack",      "core",     "rss",  "nproc",  "nofile",
        "memlock", "as",    "locks", "sigpending", "msgqueue", "nice", "rtprio", "rttime"};
    struct {
        unsigned version;
        int pid;
    } head = {0x20080522, 0};
    unsigned sets[6] = {0};
    gid_t groups[64];
    struct utsname name;
    int count = getgroups(64, groups);
    fact("user %d %d", (int)getuid(), (int)geteuid());
    fact("group %d %d", (int)getgid(), (int)getegid());
    for (int i = 0; i < count; i++)
        fact("member of group %d", (int)groups[i]);
    if (syscall(SYS_capget, &head, sets) == 0 && (sets[0] | sets[1] | sets[3] | sets[4]))
        fact("capabilities %x%08x", sets[3] | sets[4], sets[0] | sets[1]);
    if (uname(&name) == 0)
        fact("machine %s", name.nodename);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rlimit limit;
        if (getrlimit((int)i, &limit) == 0 && limit.rlim_max != RLIM_INFINITY)
            fact("limit %s %llu", names[i], (unsigned long long)limit.rlim_max);
    }
    for (char **e = environ; *e; e++)
        fact("environment %s", *e);
}

// ---- files --------------------------------------------------------------------------------------

static void show_link(const char *path) {
    char target[PATH_ROOM];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n > 0)
        fact("link %s is %.*s", path, (int)n, target);
}

// With what it says, as far as one line goes.
static void show_text(const char *path) {
    char text[TEXT_MAX / 2];
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    for (ssize_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = ' ';
    if (n >= 0)
        fact("reads %s: %.*s", path, (int)n, text);
    if (fd >= 0)
        close(fd);
}

static void show_mounts(const char *path) {
    char line[4096], root[1024], point[1024];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%*d %*d %*s %1023s %1023s", root, point) == 2)
            fact("mount %.400s at %.400s", root, point);
    if (file)
        fclose(file);
}

static void look(const char *path, int depth);

static void look_inside(const char *path, int depth) {
    char inner[PATH_ROOM];
    DIR *dir = opendir(path);
    if (!dir)
        return;
    fact("lists %s", path);
    for (struct dirent *entry; depth > 0 && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        snprintf(inner, sizeof inner, "%s/%s", strcmp(path, "/") == 0 ? "" : path, name);
        if (strcmp(path, "/proc") == 0 && !name[strspn(name, "0123456789")])
            fact("sees process %s", name);
        else if (*name != '.' && strncmp(name, "watchdog", 8) != 0)
            look(inner, depth - 1);
    }
    closedir(dir);
}

static void look(const char *path, int depth) {
    struct stat st;
    char byte;
    if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode) || S_ISFIFO(st.st_mode))
        return;
    if (S_ISDIR(st.st_mode)) {
        look_inside(path, depth);
        return;
    }
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
        fact("opens %s", path);
    else if (read(fd, &byte, 1) >= 0)
        fact("reads %s", path);
    close(fd);
}

// The first ones are looked into; of the others it is enough to know that they are there. What is
// named here is tried even where the folder above it cannot be listed.
static const char deep[] = "/etc /home /dev /run /var /tmp /proc /sys /root";
static const char shallow[] =
    "/ /usr /boot /media /mnt /opt /srv /work /result /newroot /oldroot /lost+found "
    "/bin /sbin /lib /lib32 /lib64 /libx32 /usr/local /usr/share /home/.. /dev/shm "
    "/dev/pts /var/tmp /var/log /var/lib /run/user /run/dbus /sys/kernel "
    "/sys/class/net /sys/fs/cgroup /sys/devices/system/cpu /sys/devices/system/node";
static const char files[] =
    "/etc/passwd /etc/shadow /etc/group /etc/hostname /etc/hosts /etc/machine-id "
    "/etc/resolv.conf /etc/ld.so.cache /etc/ld.so.conf /proc/cpuinfo /proc/meminfo "
    "/proc/stat /proc/version /proc/uptime /proc/loadavg /proc/mounts /proc/cmdline "
    "/proc/kallsyms /proc/keys /proc/partitions /proc/net/dev /proc/net/tcp "
    "/proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory /proc/sys/kernel/pid_max "
    "/dev/mem /dev/kmsg /dev/kvm /dev/fuse /dev/null /dev/zero /dev/full /dev/random "
    "/dev/urandom /dev/tty /dev/ptmx /dev/console /dev/sda /dev/vda /dev/nvidia0 "
    "/dev/dri/card0 /sys/class/dmi/id/product_name";

// The folders above the one that it works in, as far as the root: the worker's own, maybe.
static void for_each_above(void (*act)(const char *path)) {
    char up[3 * UP_MAX + 3] = "..";
    struct stat here, above;
    if (stat(".", &here) < 0)
        return;
    for (int i = 1; i <= UP_MAX && stat(up, &above) == 0; i++) {
        if (above.st_ino == here.st_ino && above.st_dev == here.st_dev)
            return;
        act(up);
        here = above;
        memcpy(up + 3 * i - 1, "/..", 4);
    }
}

static void look_at(const char *path) {
    look(path, 0);
}

static void look_into(const char *path) {
    look(path, 1);
}

static void show_files(void) {
    for_each_of(deep, look_into);
    for_each_of(shallow, look_at);
    for_each_of(files, look_at);
    for_each_above(look_at);
}

// ---- the system's files of processes ------------------------------------------------------------

static void show_process(const char *process) {
    static const char *const texts[] = {"environ", "cmdline", "cgroup", "attr/current"},
                             *const plain[] = {"maps", "mem", "status",    "stat", "limits",
                                               "auxv", "fd",  "map_files", "root", "task"},
                             *const links[] = {"exe", "cwd", "root", "ns/mnt"};
    char path[PATH_ROOM];
    for (size_t i = 0; i < COUNT(texts); i++) {
        snprintf(path, sizeof path, "/proc/%s/%s", process, texts[i]);
        show_text(path);
    }
    for (size_t i = 0; i < COUNT(plain); i++) {
        snprintf(path, sizeof path, "/proc/%s/%s", process, plain[i]);
        int fd = open(path, O_RDONLY);
        if (fd >= 0)
            fact("reads %s", path);
        if (fd >= 0)
            close(fd);
    }
    for (size_t i = 0; i < COUNT(links); i++) {
        snprintf(path, sizeof path, "/proc/%s/%s", process, links[i]);
        show_link(path);
    }
    snprintf(path, sizeof path, "/proc/%s/mountinfo", process);
    show_mounts(path);
}

// ---- writing ------------------------------------------------------------------------------------

static void try_folder(const char *folder) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/patchmate-probe-%d", folder, (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return;
    fact("writes to %s", folder);
    close(fd);
    unlink(path);
}

static void try_file(const char *path) {
    int fd = open(path, O_WRONLY);
    if (fd < 0)
        return;
    fact("writes to %s", path);
    close(fd);
}

static void show_writable(void) {
    static const char folders[] =
        ". / /tmp /work /usr /etc /home /root /var /var/tmp /run /dev /dev/shm /dev/mqueue "
        "/opt /proc /sys /mnt /lib /bin /usr/local /home/nobody";
    static const char single[] =
        "/result ./engine /proc/self/oom_score_adj /proc/self/mem /proc/1/mem "
        "/proc/sysrq-trigger /proc/sys/kernel/core_pattern /sys/fs/cgroup/cgroup.procs";
    for_each_of(folders, try_folder);
    for_each_above(try_folder);
    for_each_of(single, try_file);
}

// ---- others -------------------------------------------------------------------------------------

static void show_sockets(void) {
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
    int pair[2];
    for (int family = 0; family < FAMILIES; family++)
        for (size_t i = 0; i < COUNT(types); i++) {
            int fd = socket(family, types[i], 0);
            if (fd >= 0)
                fact("socket of family %d and type %d", family, types[i]);
            if (fd >= 0)
                close(fd);
        }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
        fact("pair of sockets");
}

// SIGURG does nothing to a program that does not ask for it.
static void show_signals(void) {
    int own = getpid(), parent = getppid(), others = 0;
    for (int pid = 1; pid < PIDS_MAX; pid++) {
        if (pid == own || kill(pid, SIGURG) < 0)
            continue;
        if (pid == 1)
            fact("signals process 1");
        if (pid == parent)
            fact("signals its parent");
        others += pid != 1 && pid != parent;
    }
    if (others)
        fact("signals other processes");
    if (parent >= PIDS_MAX && kill(parent, SIGURG) == 0)
        fact("signals its parent");
    if (ptrace(PTRACE_SEIZE, parent, 0, 0) == 0)
        fact("traces its parent");
    if (parent != 1 && ptrace(PTRACE_SEIZE, 1, 0, 0) == 0)
        fact("traces process 1");
}

// Refused calls end with EPERM, EACCES or ENOSYS; any other error means that the kernel looked at
// the arguments, which are nonsense.
static void show_calls(void) {
#define CALL(name)                                                                                 \
    { #name, SYS_##name }
    static const struct {
        const char *name;
        long number;
    } calls[] = {CALL(bpf),
                 CALL(perf_event_open),
                 CALL(userfaultfd),
                 CALL(io_uring_setup),
                 CALL(keyctl),
                 CALL(add_key),
                 CALL(mount),
                 CALL(umount2),
                 CALL(pivot_root),
                 CALL(chroot),
                 CALL(open_by_handle_at),
                 CALL(process_vm_readv),
                 CALL(setns),
                 CALL(init_module),
                 CALL(kexec_load),
                 CALL(syslog),
                 CALL(memfd_create),
                 CALL(shmget),
                 CALL(mq_open)};
    static const struct {
        const char *name;
        int flag;
    } spaces[] = {{"user", CLONE_NEWUSER},
                  {"mount", CLONE_NEWNS},
                  {"network", CLONE_NEWNET},
                  {"process", CLONE_NEWPID}};
    for (size_t i = 0; i < COUNT(calls); i++)
        if (syscall(calls[i].number, -1L, 0L, 0L, 0L, -1L) >= 0 ||
            (errno != EPERM && errno != EACCES && errno != ENOSYS))
            fact("calls %s", calls[i].name);
    for (size_t i = 0; i < COUNT(spaces); i++)
        if (unshare(spaces[i].flag) == 0)
            fact("makes a namespace: %s", spaces[i].name);
}

void probe(FILE *to);
void probe(FILE *to) {
    out = to;
    show_descriptors();
    show_identity();
    show_files();
    show_process("self");
    show_process("1");
    show_writable();
    show_sockets();
    show_signals();
    show_calls();
    fact("end");
    fflush(to);
}

#ifdef PROBE_MAIN
int main(void) {
    probe(stdout);
    return 0;
}
#endif
