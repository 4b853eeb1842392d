// See bubblewrap.h. Linux: bubblewrap. It makes the namespaces and mounts, applies the filter that
// it is handed, and makes way for a program of ours as process 1 (inside/init.c). That one sets the
// limit on processes, which outside would count all that the user runs and stop bubblewrap, and
// gives up what /proc tells of processes and mounts: mountinfo has the host's paths.
#include "worker/sandbox/bubblewrap.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/str.h"

// As an unknown user, with no rights to regain, in a session of its own; killing bwrap, or the
// process that started it, ends its PID namespace and so every process inside.
static const char *const namespaces[] = {"bwrap",
                                         "--unshare-all",
                                         "--unshare-user",
                                         "--disable-userns",
                                         "--die-with-parent",
                                         "--new-session",
                                         "--as-pid-1",
                                         "--cap-drop",
                                         "ALL",
                                         "--uid",
                                         "65534",
                                         "--gid",
                                         "65534",
                                         "--hostname",
                                         "sandbox",
                                         "--clearenv",
                                         NULL};

// The files of /etc that compilers and dynamically linked programs need.
static const char *const system_files[] = {"--ro-bind-try",
                                           "/etc/alternatives",
                                           "/etc/alternatives",
                                           "--ro-bind-try",
                                           "/etc/ld.so.cache",
                                           "/etc/ld.so.cache",
                                           "--ro-bind-try",
                                           "/etc/ld.so.conf",
                                           "/etc/ld.so.conf",
                                           "--ro-bind-try",
                                           "/etc/ld.so.conf.d",
                                           "/etc/ld.so.conf.d",
                                           "--dev",
                                           "/dev",
                                           NULL};

// /bin, /lib and so on are links into /usr on newer systems and folders on older ones.
static void add_system_folder(Argv *argv, const char *path) {
    char target[256];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n > 0) {
        target[n] = 0;
        argv_add_all(argv, (const char *const[]){"--symlink", target, path, NULL});
    } else {
        argv_add_all(argv, (const char *const[]){"--ro-bind-try", path, path, NULL});
    }
}

static void add_env(Argv *argv, const char *const *env) {
    for (; env && *env; env += 2)
        argv_add_all(argv, (const char *const[]){"--setenv", env[0], env[1], NULL});
}

// /dev is a file system in memory without a limit of size, so it is read-only.
static void add_writable(const SandboxView *view, Argv *argv) {
    argv_add(argv, "--size");
    argv_printf(argv, "%" PRId64, view->tmp_bytes);
    argv_add_all(argv, (const char *const[]){"--perms", "1777", "--tmpfs", "/tmp", NULL});
    argv_add_all(argv, (const char *const[]){view->writable ? "--bind" : "--ro-bind", view->folder,
                                             SANDBOX_FOLDER, NULL});
    if (view->result)
        argv_add_all(argv, (const char *const[]){"--bind", view->result, SANDBOX_RESULT, NULL});
    argv_add_all(argv, (const char *const[]){"--remount-ro", "/dev", "--remount-ro", "/", NULL});
}

// If access to files in /proc cannot be restricted, the program gets only these.
static void add_proc(const OsProfile *profile, Argv *argv) {
    static const char *const texts[] = {"/proc/cpuinfo", "/proc/meminfo",
                                        "/proc/sys/vm/overcommit_memory"};
    if (profile->access_version > 0)
        argv_add_all(argv, (const char *const[]){"--proc", "/proc", NULL});
    else
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            argv_add_all(argv, (const char *const[]){"--ro-bind-try", texts[i], texts[i], NULL});
}

#define INIT "/init"

static void add_init(const OsProfile *profile, const SandboxView *view, Argv *argv) {
    enum { OWN_PROCESSES = 4 }; // bubblewrap and process 1
    argv_add_all(argv, (const char *const[]){"--", INIT, NULL});
    argv_printf(argv, "%d", profile->access_version);
    argv_printf(argv, "%d", view->processes ? view->processes + OWN_PROCESSES : 0);
    argv_add_all(argv,
                 (const char *const[]){view->writable ? "w" SANDBOX_FOLDER : "r" SANDBOX_FOLDER,
                                       "w/tmp", NULL});
    if (view->result)
        argv_add(argv, "w" SANDBOX_RESULT);
    argv_add(argv, "--");
}

void os_sandbox_prefix(const OsProfile *profile, const SandboxView *view, const char *const *env,
                       Argv *argv) {
    static const char *const folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    argv_add_all(argv, namespaces);
    add_env(argv, env);
    add_env(argv, view->env);
    argv_add_all(argv, (const char *const[]){"--ro-bind", "/usr", "/usr", NULL});
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        add_system_folder(argv, folders[i]);
    argv_add_all(argv, system_files);
    add_proc(profile, argv);
    argv_add_all(argv, (const char *const[]){"--perms", "0555", "--file", NULL});
    argv_printf(argv, "%d", OS_INIT_FD);
    argv_add(argv, INIT);
    add_writable(view, argv);
    argv_add(argv, "--seccomp");
    argv_printf(argv, "%d", OS_PROFILE_FD);
    argv_add(argv, "--chdir");
    argv_printf(argv, SANDBOX_FOLDER "/%s", view->inside ? view->inside : "");
    add_init(profile, view, argv);
}

// The threads of a process of our user. RLIMIT_NPROC counts threads.
static int threads_of(const char *pid) {
    char path[64], line[128];
    struct stat st;
    int threads = 0;
    snprintf(path, sizeof path, "/proc/%.20s", pid);
    if (stat(path, &st) < 0 || st.st_uid != getuid())
        return 0;
    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    FILE *file = fopen(path, "re");
    while (file && !threads && fgets(line, sizeof line, file))
        if (sscanf(line, "Threads: %d", &threads) != 1)
            threads = 0;
    if (file)
        fclose(file);
    return threads;
}

int os_user_processes(void) {
    int count = 0;
    DIR *dir = opendir("/proc");
    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (isdigit((unsigned char)*entry->d_name))
            count += threads_of(entry->d_name);
    closedir(dir);
    return count;
}
