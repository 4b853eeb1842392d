#!/usr/bin/python3
"""Sizes of functions, files and lines, for `make lint`: prints the figures, fails over the house's limits.

A function over 70 lines or a source file over 400 fails; a file that is mostly a table says so with
the words "sizes: table" in one of its first ten lines. A line over 100 columns fails, comments included,
which clang-format leaves alone.

usage: tests/sizes.py [--root FOLDER]     FOLDER: a git work tree, this one unless told
"""
import argparse
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FUNCTION_MAX, FILE_MAX, COLUMNS_MAX = 70, 400, 100
SEEN = "engine/rules/bitboard.h", "square_bb"  # that a header's function is seen at all


def sources(root):
    """(path, lines) of each C file."""
    files = subprocess.run(["git", "ls-files", "*.c", "*.h", ":!tests/data"], cwd=root, capture_output=True, text=True,
                           check=True).stdout.split()
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            yield path, [line.rstrip("\n") for line in f]


def functions(root, files):
    """(lines, path, line number, name) of each function."""
    tags = subprocess.run(["ctags", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "--fields=+ne", "-f", "-",
                           *files], cwd=root, capture_output=True, text=True, check=True).stdout
    for line in tags.splitlines():
        if line.startswith("!"):
            continue
        name, path, *rest = line.split("\t")
        fields = dict(f.split(":", 1) for f in rest if f.startswith(("line:", "end:")))
        yield int(fields["end"]) - int(fields["line"]) + 1, path, fields["line"], name


def long_files(texts):
    for path, lines in texts.items():
        if len(lines) > FILE_MAX and not any("sizes: table" in line for line in lines[:10]):
            yield len(lines), path


def long_lines(texts):
    for path, lines in texts.items():
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                yield len(line), f"{path}:{number}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=ROOT)
    root = parser.parse_args().root
    texts = dict(sources(root))
    sizes = sorted(functions(root, texts))
    if SEEN not in ((path, name) for _, path, _, name in sizes):
        print(f"tests/sizes.py: {SEEN[1]} of {SEEN[0]} is not seen; are headers read?")
        return 1
    lengths = [n for n, *_ in sizes]
    print(f"{len(lengths)} functions: median {statistics.median(lengths):.0f} lines, 90th percentile "
          f"{lengths[int(len(lengths) * 0.9)]}, longest {lengths[-1]}")
    bad = [(n, f"{path}:{line} {name}") for n, path, line, name in sizes if n > FUNCTION_MAX] + sorted(long_files(texts))
    for n, what in bad:
        print(f"too long: {n} lines, {what}")
    wide = list(long_lines(texts))
    for n, where in wide:
        print(f"too wide: {n} columns, {where}")
    return 1 if bad or wide else 0


if __name__ == "__main__":
    sys.exit(main())
