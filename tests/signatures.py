#!/usr/bin/python3
"""One bench signature from every way to build the engine: UBSan, clang -O3, with LONG=1 gcc -O0, and
the one that volunteers build. A difference means undefined behaviour, floating point or timing in the search.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kit_py"))
from tap import Checks  # noqa: E402

BUILD = os.environ["BUILD"]
LONG = bool(os.environ.get("LONG"))
WAYS = {
    "as volunteers build it": {},
    **({"gcc -O0": {"CC": "gcc", "EXTRA": "-O0"}} if LONG else {}),
    "clang -O3": {"CC": "clang"},
    "gcc with UBSan": {"CC": "gcc", "EXTRA": "-O1 -fsanitize=undefined -fno-sanitize-recover=all"},
}


def signature(number, way):
    exe = f"{BUILD}/signatures/anvil{number}"
    os.makedirs(f"{BUILD}/signatures/obj{number}", exist_ok=True)
    variables = [f"{k}={v}" for k, v in way.items()]
    build = subprocess.run(["make", "-s", "-C", "engine", "-j2", f"EXE={exe}",
                            f"OBJ={BUILD}/signatures/obj{number}", *variables],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if build.returncode:
        return build.stdout
    bench = subprocess.run([exe, "bench"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"^Nodes searched  : (\d+)$", bench.stdout, re.M)
    return int(found.group(1)) if found and bench.returncode == 0 else bench.stdout


def main():
    tap, expected = Checks(), None
    for number, (name, way) in enumerate(WAYS.items(), 1):
        nodes = signature(number, way)
        expected = expected if expected is not None else nodes
        tap.check(isinstance(nodes, int) and nodes == expected, f"the engine built {name} searches {expected} nodes", f"got {nodes}")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
