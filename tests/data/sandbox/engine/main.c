// An engine that looks around, or leaves processes behind: in its build (the Makefile's DEED), at
// bench, or once it is told to go.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *const at_bench = "", *const at_play = "", *const name = "stray";

void probe(FILE *to);

// Deaf to signals, without a parent, out of its session and group where that is to be had.
static void be_stray(void) {
    for (int i = 1; i < 64; i++)
        signal(i, SIG_IGN);
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_DUMPABLE, 0);
    for (;;)
        sleep(1);
}

static void leave_strays(void) {
    if (fork() == 0) {
        setsid();
        setpgid(0, 0);
        for (int i = 0; i < 3; i++)
            if (fork() == 0)
                be_stray();
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
