#!/usr/bin/python3
"""No two types or constants with one name, for `make lint`: a name that a header shows is not given again, neither by another header
nor inside a file of the same part (engine, server, sprt, worker). Two files may each have a private type or constant of one name.

`typedef struct T T;` declares a type and defines none, as often as it stands: the definition is the struct with its members.

Names that are still wrong stand in KNOWN; the list may only shrink.

usage: tests/names.py [--root FOLDER]     FOLDER: a git work tree, this one unless told
"""
import argparse
import collections
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KNOWN = set()
SEEN = "Turn", "server/db/turn.h"  # that a header's name is seen at all


def definitions(root):
    """(name, file, whether it is only declared) of each struct, union, enum, typedef and enumerator."""
    files = subprocess.run(["git", "ls-files", "engine/*.[ch]", "server/*.[ch]", "sprt/*.[ch]", "worker/*.[ch]"], cwd=root, capture_output=True, text=True,
                           check=True).stdout.split()
    tags = subprocess.run(["ctags", "--languages=C", "--langmap=C:.c.h", "--kinds-C=tsegu", "-f", "-", *files], cwd=root, capture_output=True, text=True,
                          check=True).stdout
    for line in tags.splitlines():
        name, path, *fields = line.split("\t")
        if not line.startswith("!") and not name.startswith("__anon"):
            yield name, path, bool({f"typeref:struct:{name}", f"typeref:union:{name}", f"typeref:enum:{name}"} & set(fields))


def module(path):
    return path.rsplit(".", 1)[0]


def part(path):
    return path.split("/")[0]


def twice(found):
    """Complaints about names, as definitions() yields them."""
    defined, shown = collections.defaultdict(set), collections.defaultdict(set)
    for name, path, declared in found:
        if not declared:
            defined[name].add(path)
        if path.endswith(".h"):
            shown[name].add(part(path))
    for name, paths in sorted(defined.items()):
        places = sorted(p for p in paths if p.endswith(".h") or part(p) in shown[name])
        if len(set(map(module, places))) > 1:
            yield name, f"{name} is in {' and in '.join(places)}"


def self_test():
    for places in ("server/a.h", "worker/b.h"), ("server/a.h", "server/b.c"):
        assert list(twice([("A", place, False) for place in places])), places
        assert not list(twice([("A", places[0], True), ("A", places[1], False)])), places
    for places in ("server/a.c", "server/b.c"), ("server/a.h", "server/a.c"):
        assert not list(twice([("A", place, False) for place in places])), places
    assert list(twice([("A", "server/a.h", True), ("A", "server/a.c", False), ("A", "server/b.c", False)]))


def main():
    self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=ROOT)
    names = list(definitions(parser.parse_args().root))
    if SEEN not in ((name, path) for name, path, _ in names):
        print(f"tests/names.py: {SEEN[0]} of {SEEN[1]} is not seen; are headers read?")
        return 1
    found = dict(twice(names))
    for name in sorted(found.keys() - KNOWN):
        print(f"one name, two meanings: {found[name]}")
    for name in sorted(KNOWN - found.keys()):
        print(f"tests/names.py: {name} is no longer given twice; take it out of KNOWN")
    return 1 if found.keys() ^ KNOWN else 0


if __name__ == "__main__":
    sys.exit(main())
