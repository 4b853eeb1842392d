"""Servers whose engine is one C file that a test makes up: for engines that misbehave in one way."""

import pathlib
import tempfile

from database import write_plain_book
from server import Server

MAIN = r"""
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char line[1 << 16];
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1 && strcmp(argv[1], "bench") == 0)
        return puts("Nodes searched  : 1000\nNodes/second    : 1000000") < 0;
    %s
}
"""
# Prints nothing.
MUTE = "for (;;) sleep(1);"
# After `go` it computes for ever, and ignores input, closed pipes and signals.
STUBBORN = r"""
    signal(SIGTERM, SIG_IGN), signal(SIGPIPE, SIG_IGN), signal(SIGHUP, SIG_IGN);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "uci\n", 4) == 0)
            puts("id name stubborn\noption name Hash type spin default 1 min 1 max 16\nuciok");
        if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        if (strncmp(line, "go", 2) == 0)
            break;
    }
    for (;;) sleep(1);
"""
# Plays no move: it says why and ends.
FAILING = r"""
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "uci\n", 4) == 0)
            puts("id name failing\noption name Hash type spin default 1 min 1 max 16\nuciok");
        if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        if (strncmp(line, "go", 2) == 0)
            return fputs("assertion failed: no moves today\n", stderr), usleep(100000), 3;
    }
    return 0;
"""


def server_with_engine(behaviour):
    """Not started yet."""
    with tempfile.TemporaryDirectory(prefix="patchmate-engine-") as folder:
        source = pathlib.Path(folder) / "engine"
        source.mkdir()
        (source / "main.c").write_text(MAIN.replace("%s", behaviour))
        (source / "Makefile").write_text("EXE = anvil\n$(EXE): main.c\n\tcc main.c -o $@\n")
        book = write_plain_book(pathlib.Path(folder) / "book.epd")
        return Server(init_options=["--engine-source", str(source), "--book", str(book)], start=False)
