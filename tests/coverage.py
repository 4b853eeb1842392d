#!/usr/bin/python3
"""Which share of the lines of each folder the tests reach, for `make coverage`; fails where a folder is below its floor.

Runs all unit tests and the integration tests that need no minutes, with programs built by gcc --coverage, and adds up what gcov
says of each line. For developers: a low figure shows where a test is missing, a high one proves nothing.

usage: tests/coverage.py BUILD
"""
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

from run import PYTHON, ROOT, Program, run

QUICK = ("approval", "bad_input", "datagen", "match", "match_cli", "nets", "read_api", "referee", "rights", "server_core", "submit",
         "tune", "uci", "worker", "worker_files", "worker_heartbeats", "worker_protocol")
# Percent of lines. A folder that rises well above its floor gets a higher one. What only the self-test, an operator's command or
# another machine reaches is not among these tests.
FLOORS = {"worker/selftest": 0, "server/cli": 40, "worker/os": 55, "server": 35, "worker": 50, "server/routes": 60, "worker/setup": 60}
FLOOR = 70


def programs(build):
    for path in sorted(glob.glob(f"{ROOT}/tests/unit/*/test_*.c")):
        name = os.path.basename(path)[:-2]
        yield Program(f"unit/{name}", [f"{build}/tests/{name}"])
    for name in QUICK:
        path, = glob.glob(f"{ROOT}/tests/integration/*/test_{name}.py")
        yield Program(f"integration/{name}", [PYTHON, path], 900)


def lines_of(data):
    """(source file, line) → whether it was reached, of one object file."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", data], cwd=ROOT, capture_output=True, check=True)
    found = {}
    for document in filter(None, done.stdout.split(b"\n")):
        for file in json.loads(document)["files"]:
            path = os.path.relpath(os.path.join(ROOT, file["file"]), ROOT)
            for line in file["lines"]:
                key = path, line["line_number"]
                found[key] = found.get(key, False) or line["count"] > 0
    return found


def coverage(build):
    """Folder → lines, and those that were reached."""
    reached = {}
    data = glob.glob(f"{build}/obj/**/*.gcda", recursive=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lines_of, data):
            for key, value in found.items():
                reached[key] = reached.get(key, False) or value
    total, hit = collections.Counter(), collections.Counter()
    for (path, _), value in reached.items():
        folder = os.path.dirname(path)
        if folder.startswith(("server", "worker", "engine", "sprt")):
            total[folder] += 1
            hit[folder] += value
    return total, hit


def main():
    build = os.path.abspath(sys.argv[1])
    for data in glob.glob(f"{build}/obj/**/*.gcda", recursive=True):
        os.unlink(data)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda program: run(program, build), programs(build)):
            if result.failed:
                print(f"{result.program.name}: {', '.join(result.failed)}")
    total, hit = coverage(build)
    low = 0
    print(f"{'folder':<20} {'lines':>7} {'reached':>8} {'floor':>6}")
    for folder in sorted(total):
        percent, floor = 100 * hit[folder] / total[folder], FLOORS.get(folder, FLOOR)
        low += percent < floor
        print(f"{folder:<20} {total[folder]:>7} {percent:>7.1f}% {floor:>5}%{'  too low' if percent < floor else ''}")
    print(f"{'all':<20} {sum(total.values()):>7} {100 * sum(hit.values()) / max(1, sum(total.values())):>7.1f}%")
    return 1 if low or not total else 0


if __name__ == "__main__":
    sys.exit(main())
