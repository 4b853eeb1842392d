"""The toy engine as the engine of a server: it builds in seconds and plays in milliseconds. A small main in front of it answers
`bench`."""

import shutil

from server import ROOT

MAIN = """#include <stdio.h>
#include <string.h>
int toy_main(int argc, char **argv);
enum { BENCH = 4711 };
int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "bench") == 0) {
        printf("Nodes searched  : %d\\nNodes/second    : 1000000\\n", BENCH);
        return 0;
    }
    return toy_main(argc, argv);
}
"""
MAKEFILE = """SOURCES := main.c tests/tools/toy.c $(wildcard tests/kit/*.c engine/rules/*.c)
anvil: $(SOURCES:.c=.o)
\tcc -o $@ $^
%.o: %.c
\tcc -std=c11 -D_GNU_SOURCE -I. -Iengine $(if $(findstring toy.c,$<),-Dmain=toy_main) -c $< -o $@
"""


def write_toy_source(folder):
    """Returns `folder`, made."""
    shutil.copytree(ROOT / "engine/rules", folder / "engine/rules")
    (folder / "tests/tools").mkdir(parents=True)
    shutil.copy(ROOT / "tests/tools/toy.c", folder / "tests/tools")
    (folder / "tests/kit").mkdir()
    for file in (ROOT / "tests/kit").glob("toy*"):
        shutil.copy(file, folder / "tests/kit")
    (folder / "main.c").write_text(MAIN)
    (folder / "Makefile").write_text(MAKEFILE)
    return folder
