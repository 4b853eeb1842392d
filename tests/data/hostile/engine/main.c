// An engine that does one bad thing: in its build, at bench, or once it is told to go. What is
// denied ends it with a word; what is not is called a breach, and it goes on as if nothing were.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const at_bench[] = {"", ""}, *const at_play[] = {"", ""};

static void denied(const char *what) {
    fprintf(stderr, "error: denied: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void connect_to(const char *port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) < 0)
        denied("connect");
}

static void read_file(const char *path) {
    char byte;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, &byte, 1) < 0)
        denied("read");
}

static void write_file(const char *path) {
    if (open(path, O_WRONLY | O_CREAT, 0600) < 0)
        denied("write");
}

static void fork_for_ever(void) {
    for (;;)
        if (fork() < 0)
            usleep(1000);
}

// In small pages, to pass a limit before its time is over: huge ones may take a virtual machine
// seconds to fetch from its host.
static void fill_memory(void) {
    for (size_t size = 32 << 20;;) {
        void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            denied("memory");
        memset(block, 1, size);
    }
}

// Looks at much and has nothing: only the tables of its pages grow.
static void fill_tables(void) {
    for (size_t size = (size_t)1 << 36, step = 2 << 20;;) {
        volatile char *block = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED)
            denied("memory");
        madvise((void *)block, size, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < size; at += step)
            (void)block[at];
    }
}

// Shared memory of which but a page stays mapped, in a process that forbids others to look at its
// mappings and descriptors. All of it stays in memory.
static void fill_shared(void) {
    prctl(PR_SET_DUMPABLE, 0);
    for (size_t size = 32 << 20;;) {
        char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            denied("memory");
        memset(block, 1, size);
        munmap(block + 4096, size - 4096);
    }
}

// Into files that have no name and no descriptor, but a page that is mapped; others may not look.
static void fill_hidden(const char *folder) {
    char path[200];
    prctl(PR_SET_DUMPABLE, 0);
    snprintf(path, sizeof path, "%s/hidden", folder);
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        if (fd < 0 || fallocate(fd, 0, 0, 32 << 20) < 0 ||
            mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
            denied("disk");
        close(fd);
        unlink(path);
        usleep(5000);
    }
}

// Into files of 32 MiB, the first of them deleted, so that no name tells of it. Out of descriptors, it
// keeps what it has.
static void fill_disk(const char *folder) {
    char path[200];
    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "%s/full%d", folder, i);
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        while (fd < 0 && errno == EMFILE)
            sleep(1000);
        if (fd < 0 || fallocate(fd, 0, 0, 32 << 20) < 0)
            denied("disk");
        if (i == 0)
            unlink(path);
        usleep(2000);
    }
}

// Locks on single bytes of files, which are in the kernel's memory.
static void set_locks(void) {
    char path[32];
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "locked%d", i);
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        for (int at = 0; at < 1000; at++) {
            struct flock lock = {.l_type = F_WRLCK, .l_start = 2L * at, .l_len = 1};
            if (fcntl(fd, F_SETLK, &lock) < 0)
                denied("lock");
        }
    }
}

static void trace(int pid) {
    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
        denied("ptrace");
}

static void kill_other(int pid) {
    if (kill(pid, SIGKILL) < 0)
        denied("kill");
    usleep(50000);
    errno = 0;
    denied("kill had no effect here");
}

// In a session of its own where that is allowed, deaf, and without a parent.
// Only one: what many cost to start, an engine in play uses in its opponent's time, and that is
// another deed.
static void leave_daemon(void) {
    static int left;
    if (left++)
        return;
    if (fork() > 0)
        return (void)wait(NULL);
    setsid();
    if (fork() > 0)
        _exit(0);
    for (int i = 1; i < 64; i++)
        signal(i, SIG_IGN);
    close(0), close(1), close(2);
    for (;;)
        pause();
}

static void flood(void) {
    for (;;)
        puts("info string and on and on and on and on and on and on and on and on and on");
}

static void do_deed(const char *name, const char *argument) {
#define IS(text) (strcmp(name, text) == 0)
    if (IS(""))
        return;
    if (IS("read"))
        read_file(argument);
    else if (IS("write"))
        write_file(argument);
    else if (IS("connect"))
        connect_to(argument);
    else if (IS("fork"))
        fork_for_ever();
    else if (IS("memory"))
        fill_memory();
    else if (IS("tables"))
        fill_tables();
    else if (IS("shared"))
        fill_shared();
    else if (IS("disk"))
        fill_disk(argument);
    else if (IS("hidden"))
        fill_hidden(argument);
    else if (IS("locks"))
        set_locks();
    else if (IS("sleep"))
        pause();
    else if (IS("trace"))
        trace(atoi(argument));
    else if (IS("kill"))
        kill_other(atoi(argument));
    else if (IS("orphan"))
        kill_other(getppid());
    else if (IS("flood"))
        flood();
    else if (IS("daemon"))
        return leave_daemon();
    puts("info string BREACH");
}

// Knights go out and back: legal from any opening of the test's book, with Black to move.
static void play(void) {
    static const char *const moves[] = {"b8c6", "b1c3", "c6b8", "c3b1"};
    static char line[1 << 16];
    int played = 0;
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "uci\n", 4) == 0)
            puts("id name Hostile\noption name Hash type spin default 1 min 1 max 16\nuciok");
        if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        if (strncmp(line, "position", 8) == 0) {
            const char *at = strstr(line, " moves ");
            for (played = 0; at && (at = strchr(at + 1, ' ')) && at[1] > ' ';)
                played++;
        }
        if (strncmp(line, "quit", 4) == 0)
            return;
        if (strncmp(line, "go", 2) == 0) {
            do_deed(at_play[0], at_play[1]);
            printf("info depth 1 score cp 0 nodes 1 pv %s\nbestmove %s\n", moves[played % 4],
                   moves[played % 4]);
        }
    }
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "deed") == 0)
        return do_deed(argv[2], argc > 3 ? argv[3] : ""), 0;
    if (argc > 1 && strcmp(argv[1], "bench") == 0) {
        do_deed(at_bench[0], at_bench[1]);
        return puts("Nodes searched  : 1000\nNodes/second    : 1000000") < 0;
    }
    play();
}
