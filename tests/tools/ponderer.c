// ponderer WAY ENGINE: a UCI engine that plays like ENGINE, and computes in its opponent's time
// (WAY: a way of toy_steal(), or "" for an honest engine). All lines pass through it; between
// "bestmove" and the next "go" it uses the CPU that it shares with its opponent.
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "server/common/log.h"
#include "tests/kit/toy.h"

enum { CHUNK = 1 << 16 };

// Passes on what can be read. `word` at the start of a line changes whether the engine rests.
static bool pass(int from, int to, const char *word, bool rests, bool *line_begins) {
    char text[CHUNK + 1];
    ssize_t size = read(from, text, CHUNK);
    if (size <= 0)
        return false;
    text[size] = 0;
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if ((at > text || *line_begins) && strncmp(at, word, strlen(word)) == 0)
            toy_rest(rests);
    *line_begins = text[size - 1] == '\n';
    return write(to, text, (size_t)size) == size;
}

static void become(const char *engine, const int in[2], const int out[2]) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in[0], 0);
    dup2(out[1], 1);
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(out[i]);
    }
    execl(engine, engine, (char *)NULL);
    _exit(127);
}

int main(int argc, char **argv) {
    int in[2], out[2];
    bool to_begins = true, from_begins = true;
    if (argc != 3 || pipe(in) != 0 || pipe(out) != 0)
        fatal("usage: ponderer WAY ENGINE");
    pid_t pid = fork();
    if (pid == 0)
        become(argv[2], in, out);
    close(in[0]);
    close(out[1]);
    if (*argv[1])
        toy_steal(argv[1]);
    for (struct pollfd ends[2] = {{0, POLLIN, 0}, {out[0], POLLIN, 0}}; poll(ends, 2, -1) > 0;) {
        if (ends[0].revents && !pass(0, in[1], "go", false, &to_begins))
            break;
        if (ends[1].revents && !pass(out[0], 1, "bestmove", true, &from_begins))
            break;
    }
    kill(pid, SIGKILL);
    return 0;
}
