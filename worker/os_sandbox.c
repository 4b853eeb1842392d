// See os_sandbox.h. Linux: bubblewrap. It makes the namespaces and mounts and nothing else; limits
// on memory, processes and system calls would belong to a launcher that is put after its "--".
#include "os_sandbox.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

// As nobody, with no rights to regain, in a session of its own; killing bwrap, or whoever started
// it, ends its PID namespace and so every process inside.
static const char *const namespaces[] = {"bwrap",
                                         "--unshare-all",
                                         "--unshare-user",
                                         "--disable-userns",
                                         "--die-with-parent",
                                         "--new-session",
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

// What a compiler and a dynamically linked program need of /etc, and nothing more of it.
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
                                           "--proc",
                                           "/proc",
                                           "--dev",
                                           "/dev",
                                           NULL};

// /bin, /lib and their like are links into /usr on newer systems and folders on older ones.
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

void os_sandbox_prefix(const SandboxView *view, const char *const *env, Argv *argv) {
    static const char *const folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    argv_add_all(argv, namespaces);
    add_env(argv, env);
    add_env(argv, view->env);
    argv_add_all(argv, (const char *const[]){"--ro-bind", "/usr", "/usr", NULL});
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        add_system_folder(argv, folders[i]);
    argv_add_all(argv, system_files);
    argv_add(argv, "--size");
    argv_printf(argv, "%" PRId64, view->tmp_bytes);
    argv_add_all(argv, (const char *const[]){"--perms", "1777", "--tmpfs", "/tmp", NULL});
    argv_add_all(argv,
                 (const char *const[]){view->writable ? "--bind" : "--ro-bind", view->folder,
                                       OS_SANDBOX_FOLDER, "--remount-ro", "/", "--chdir", NULL});
    argv_printf(argv, OS_SANDBOX_FOLDER "/%s", view->inside ? view->inside : "");
    argv_add(argv, "--");
}
