#!/usr/bin/python3
"""No two types or constants with one name, for `make lint`: a name that a header shows is not given again, neither by another header
nor inside a file of the same part (engine, server, sprt, worker). Two files may each have a private type or constant of one name.

Names that are still wrong stand in KNOWN; the list may only shrink.
"""
import collections
import subprocess
import sys

KNOWN = set()


def definitions():
    """(name, file) of each struct, union, enum, typedef and enumerator."""
    files = subprocess.run(["git", "ls-files", "engine/*.[ch]", "server/*.[ch]", "sprt/*.[ch]", "worker/*.[ch]"], capture_output=True, text=True,
                           check=True).stdout.split()
    tags = subprocess.run(["ctags", "--languages=C", "--kinds-C=tsegu", "-f", "-", *files], capture_output=True, text=True,
                          check=True).stdout
    for line in tags.splitlines():
        name, path = line.split("\t")[:2]
        if not line.startswith("!") and not name.startswith("__anon"):
            yield name, path


def module(path):
    return path.rsplit(".", 1)[0]


def twice(found):
    """Complaints about (name, file) pairs."""
    places = collections.defaultdict(set)
    for name, path in found:
        places[name].add(path)
    for name, paths in sorted(places.items()):
        headers = sorted(p for p in paths if p.endswith(".h"))
        for header in headers[:1]:
            part = header.split("/")[0]
            others = [p for p in sorted(paths) if module(p) != module(header) and (p.endswith(".h") or p.startswith(part))]
            if others:
                yield name, f"{name} is in {header} and in {', '.join(others)}"


def main():
    assert list(twice([("A", "server/a.h"), ("A", "worker/b.h")])) and list(twice([("A", "server/a.h"), ("A", "server/b.c")]))
    assert not list(twice([("A", "server/a.c"), ("A", "server/b.c")])) and not list(twice([("A", "server/a.h"), ("A", "server/a.c")]))
    found = dict(twice(definitions()))
    for name in sorted(found.keys() - KNOWN):
        print(f"one name, two meanings: {found[name]}")
    for name in sorted(KNOWN - found.keys()):
        print(f"tests/names.py: {name} is no longer given twice; take it out of KNOWN")
    return 1 if found.keys() ^ KNOWN else 0


if __name__ == "__main__":
    sys.exit(main())
