#!/usr/bin/python3
"""One bench signature from every way to build the engine: UBSan, clang -O3, with LONG=1 gcc -O0, and the one that volunteers
build. A difference means undefined behaviour, floating point or timing in the search. The quick ones, by two compilers, also
make a small book and print the default one.
"""
import hashlib
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kit_py"))
from tap import Checks  # noqa: E402

BUILD = os.environ["BUILD"]
LONG = bool(os.environ.get("LONG"))
MAKE_BOOKS = ("as volunteers build it", "clang -O3")
WAYS = {
    "as volunteers build it": {},
    **({"gcc -O0": {"CC": "gcc", "EXTRA": "-O0"}} if LONG else {}),
    "clang -O3": {"CC": "clang"},
    "gcc with UBSan": {"CC": "gcc", "EXTRA": "-O1 -fsanitize=undefined -fno-sanitize-recover=all"},
}


def build(number, way):
    """(The program, what the build said if it failed.)"""
    exe = f"{BUILD}/signatures/anvil{number}"
    os.makedirs(f"{BUILD}/signatures/obj{number}", exist_ok=True)
    variables = [f"{k}={v}" for k, v in way.items()]
    done = subprocess.run(["make", "-s", "-C", "engine", "-j2", f"EXE={exe}", f"OBJ={BUILD}/signatures/obj{number}", *variables],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return exe, done.stdout if done.returncode else ""


def signature(exe):
    bench = subprocess.run([exe, "bench"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"^Nodes searched  : (\d+)$", bench.stdout, re.M)
    return int(found.group(1)) if found and bench.returncode == 0 else bench.stdout


def book(exe):
    """The SHA-256 of a small book's walks, which are searched for, and of the default book's positions, which are not."""
    walks, sums = f"{exe}.walks", []
    made = subprocess.run([exe, "walks", "make", walks, "--count", "300"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    printed = subprocess.run([exe, "walks", "print", "server/books/anvil.walks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if made.returncode or printed.returncode:
        return (made.stderr + printed.stderr).decode(errors="replace")
    for data in open(walks, "rb").read(), printed.stdout:
        sums.append(hashlib.sha256(data).hexdigest()[:16])
    return " and ".join(sums)


def main():
    tap, expected = Checks(), None
    for number, (name, way) in enumerate(WAYS.items(), 1):
        exe, failed = build(number, way)
        found = (failed, failed) if failed else (signature(exe), book(exe) if name in MAKE_BOOKS else "")
        expected = expected or found
        tap.check(isinstance(found[0], int) and found[0] == expected[0], f"the engine built {name} searches {expected[0]} nodes", f"got {found[0]}")
        if name in MAKE_BOOKS:
            tap.check(found[1] == expected[1] and " and " in found[1], f"the engine built {name} makes the books {expected[1]}", f"got {found[1]}")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
