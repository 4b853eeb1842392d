// An engine that looks around, or leaves processes behind: in its build (the Makefile's DEED), at
// bench, or once it is told to go.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const at_bench = "", *const at_play = "", *const name = "stray";

void probe(FILE *to);

// Without what the worker could know it by: its limits, parent, session and group.
static void hide(void) {
    static const struct rlimit one = {1, 1};
    syscall(SYS_prlimit64, 0, RLIMIT_RTTIME | 1UL << 32, &one, NULL);
    syscall(SYS_setrlimit, RLIMIT_RTTIME | 1UL << 63, &one);
    for (int i = 1; i < 64; i++)
        signal(i, SIG_IGN);
    setsid();
    setpgid(0, 0);
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

// It reaps what becomes its child. In play a program cannot ignore the ends of children, and too
// many of them would be over the limit of processes.
static void be_stray(void) {
    hide();
    for (;;)
        if (waitpid(-1, NULL, 0) < 0)
            sleep(1);
}

// A process that is always a new one.
static void keep_forking(void) {
    hide();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        usleep(2000);
        if (fork() > 0)
            _exit(0);
        setsid();
    }
}

static void leave_strays(void) {
    if (fork() == 0) {
        hide();
        close_range(0, ~0U, 0);
        for (int i = 0; i < 3; i++)
            if (fork() == 0)
                be_stray();
        for (int i = 0; i < 3; i++)
            if (fork() == 0)
                keep_forking();
        if (fork() == 0)
            _exit(0);
        be_stray();
    }
    if (fork() == 0) {
        if (fork() == 0)
            be_stray();
        _exit(0);
    }
    be_stray();
}

static void act(const char *deed, FILE *to) {
    if (strcmp(deed, "probe") == 0)
        probe(to);
    if (strcmp(deed, "strays") == 0)
        leave_strays();
}

int main(int argc, char **argv) {
    char line[1 << 16];
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1 && strcmp(argv[1], "bench") != 0)
        return act(argv[1], stdout), 0;
    if (argc > 1) {
        act(at_bench, stdout);
        return *at_bench || puts("Nodes searched  : 1000\nNodes/second    : 1000000") < 0;
    }
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "uci\n", 4) == 0)
            puts("id name sandbox\noption name Hash type spin default 1 min 1 max 16\nuciok");
        if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        if (strncmp(line, "go", 2) == 0)
            return act(at_play, stderr), usleep(100000), 3;
    }
    return 0;
}
