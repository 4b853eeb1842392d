#!/usr/bin/python3
"""CFLAGS and LDFLAGS of the caller, from the command line and from the environment, are added to the flags that the two makefiles
need; and what they compile. `make -n` prints the commands and builds nothing."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "kit_py")]
import tap  # noqa: E402

ROOT = TESTS.parent
GIVEN = {"CFLAGS": "-O1 -DGIVEN_COMPILE", "LDFLAGS": "-Wl,--given-link"}


def planned(*args, **environment):
    """The commands that make would run, in an empty build folder."""
    outside = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS", "CFLAGS", "LDFLAGS"}}
    done = subprocess.run(["make", "-n", "V=1", *args], cwd=ROOT, env=outside | environment, capture_output=True, text=True)
    tap.equal(done.returncode, 0, done.stderr)
    return done.stdout.splitlines()


def both_ways(*args):
    yield "command line", planned(*args, *(f"{name}={value}" for name, value in GIVEN.items()))
    yield "environment", planned(*args, **GIVEN)


def check(lines, source, program, needed, way):
    """One command compiles `source` and one links `program`, with the flags needed and the flags given."""
    compiled = next(line.split() for line in lines if f"-c {source} " in line)
    tap.true(needed <= set(compiled), f"{way}: {source} lacks flags that the build needs: {compiled}")
    tap.true("-DGIVEN_COMPILE" in compiled, f"{way}: {source} lacks the flags given: {compiled}")
    tap.true([flag for flag in compiled if flag.startswith("-O")][-1] == "-O1", f"{way}: the level given is not the last: {compiled}")
    linked = next(line.split() for line in lines if line.endswith(f" -o {program}"))
    tap.true("-Wl,--given-link" in linked and "-pthread" in linked, f"{way}: {program} is linked without its flags: {linked}")


def flags_given_to_the_engines_makefile_are_added_to_those_it_needs():
    with tempfile.TemporaryDirectory() as folder:
        for way, lines in both_ways("-C", "engine", f"EXE={folder}/anvil", f"OBJ={folder}/obj", "EXTRA=-DEXTRA_TOO", "LTO="):
            check(lines, "search/search.c", f"{folder}/anvil", {"-std=c11", "-pthread", "-I.", "-DEXTRA_TOO"}, way)


def flags_given_to_the_first_makefile_are_added_to_those_it_needs_and_reach_the_engine():
    with tempfile.TemporaryDirectory() as folder:
        for way, lines in both_ways(f"BUILD={folder}", "LTO=", f"{folder}/sprt", f"{folder}/engine"):
            check(lines, "sprt/elo.c", f"{folder}/sprt", {"-std=c11", "-pthread", "-I.", "-Wall"}, way)
            check(lines, "search/search.c", f"{folder}/engine", {"-std=c11", "-pthread", "-I.", "-Wall"}, way)


def a_second_make_in_the_engines_folder_compiles_the_same_sources():
    """What the first one leaves in obj is none of them."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "engine", f"{folder}/engine", ignore=shutil.ignore_patterns("nets", "obj", "anvil"))
        first, second = (planned("-C", f"{folder}/engine") for _ in range(2))
        sources = [[word for word in line.split() if word.endswith(".c")] for line in second if " -c " in line]
        tap.true(["search/search.c"] in sources, "the engine's sources are compiled")
        tap.equal(second, first)


if __name__ == "__main__":
    tap.run(flags_given_to_the_engines_makefile_are_added_to_those_it_needs,
            flags_given_to_the_first_makefile_are_added_to_those_it_needs_and_reach_the_engine,
            a_second_make_in_the_engines_folder_compiles_the_same_sources)
