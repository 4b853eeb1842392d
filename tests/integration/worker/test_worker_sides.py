#!/usr/bin/python3
# test: sanitized only
"""A task whose two sides share nothing but their source: each is built, checked and played with what its own object says."""

import ctypes
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from fake_server import FakeServer  # noqa: E402
from server import wait_until  # noqa: E402
from tap import Skip, contains, equal, run, true  # noqa: E402
from worker import Worker  # noqa: E402

# The number of its bench depends on its build and on the arguments of `bench`. It moves once in a game, after half a second.
SLOW = r"""
    if (argc > 1)
        return printf("Nodes searched  : %d\n", NODES + argc) < 0;
#ifdef BROKEN
    return 3;
#endif
    int black = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "uci\n", 4) == 0)
            puts("id name slow\noption name Hash type spin default 1 min 1 max 16\n"
                 "option name Threads type spin default 1 min 1 max 8\nuciok");
        if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        if (strncmp(line, "position", 8) == 0)
            black = strstr(line, "moves ") != NULL;
        if (strncmp(line, "go", 2) == 0) {
            usleep(500000);
            puts(black ? "bestmove e7e5" : "bestmove e2e4");
        }
    }
    return 0;
"""
LIST = "option name Hash type spin default 1 min 1 max 16\noption name Threads type spin default 1 min 1 max 8\n"
MAIN = "#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\nint main(int argc, char **argv) {\n    char line[1 << 16];\n" \
       f"    setvbuf(stdout, NULL, _IONBF, 0);\n{SLOW}}}\n"


def build(nodes, *bench_args, binary="tiny"):
    return {"directory": ".", "command": f"cc -w -DNODES={nodes} main.c -o {binary}", "binary": binary, "env": {},
            "bench_args": ["bench", *bench_args], "files": []}


# Both think for longer than their time for a move. Only the first may: its margin is a quarter of a second.
PATIENT = {"name": "patient-1", "engine": "tortoise", "build": build(1000), "bench": None, "tc": "st=0.45", "threads": 1,
           "margin_ms": 250}
STRICT = {"name": "strict_2", "engine": "hare", "build": build(2000, "5", binary="other"), "bench": None, "tc": "st=0.1",
          "threads": 2, "margin_ms": 0}


def unzstd(data, most=1 << 20):
    lib = ctypes.CDLL("libzstd.so.1")
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(most)
    size = lib.ZSTD_decompress(out, most, data, len(data))
    true(size <= most, "a frame of Zstandard")
    return out.raw[:size]


def sent(fake, word):
    return [body for method, path, body in fake.heard if word in path and method != "GET"]


def task_of(fake, *sides):
    fake.set_tree({"main.c": MAIN})
    fake.add_task(sides=sides)


def each_side_is_built_checked_and_played_for_itself():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one CPU")
    with FakeServer() as fake:
        task_of(fake, PATIENT, STRICT)
        with Worker(fake, "--concurrency", "2") as worker:
            wait_until(lambda: len(sent(fake, "/faults/")) >= 2, 120)
            log = worker.log()
        equal([json.loads(body) for body in sent(fake, "/bench")],
              [{"side": "patient-1", "nodes": 1002, "options": LIST}, {"side": "strict_2", "nodes": 2003, "options": LIST}])
        equal(fake.failures, [])
        result = json.loads(sent(fake, "/batches")[0])["result"]
        equal(result, {"outcomes": "4", "wins": 2, "losses": 0, "draws": 0, "crashes": 0, "time_losses": 2,
                       "ponders": 0, "ponders_against": 0})
        none = dict.fromkeys(("illegal_pv", "other_move", "false_mate", "no_score"), 0)
        equal(json.loads(sent(fake, "/batches")[0])["said"],  # the second side never answers in time
              {"new": {"moves": 1, **none, "no_score": 1}, "base": {"moves": 0, **none}})
        contains(log, "strict_2 of test 1: ")
        contains(log, "4 pairs at st=0.450, 1 at a time")  # a game has the two CPUs of the second side
        for fault in (json.loads(unzstd(body)) for body in sent(fake, "/faults/")[:2]):
            equal((fault["side"], fault["end"]), ("strict_2", "time"))
            equal(sorted(fault["protocol_log"]), ["patient-1", "strict_2"])
            equal(sorted(fault["errors"]), ["patient-1", "strict_2"])
            contains(fault["pgn"], '"patient-1"]')
            contains(fault["protocol_log"]["strict_2"], "go movetime 100")
            contains(fault["protocol_log"]["strict_2"], "setoption name Threads value 2")
            true("Threads value" not in fault["protocol_log"]["patient-1"], fault)


def a_failure_has_the_name_of_its_side():
    for broken, kind in (({"build": build("nonsense")}, "build"), ({"bench": 7}, "bench"),
                         ({"build": build("2000 -DBROKEN")}, "engine")):
        with FakeServer() as fake:
            task_of(fake, PATIENT, {**STRICT, "threads": 1, **broken})
            with Worker(fake, "--concurrency", "1"):
                failure = wait_until(lambda f=fake: f.failures, 60)[0]
            equal((failure["kind"], failure["side"]), (kind, "strict_2"), failure)


def a_task_of_other_than_two_sides_is_refused_before_anything_is_fetched():
    third = {**STRICT, "name": "third"}
    for sides, words in (((PATIENT, STRICT, third), "number of sides is 3, not 2"), ((PATIENT,), "number of sides is 1, not 2"),
                         ((PATIENT, {**STRICT, "name": "patient-1"}), "two sides of one name"),
                         ((PATIENT, {**STRICT, "name": "Strict 2"}), "a side whose name is not")):
        with FakeServer() as fake:
            task_of(fake, *sides)
            with Worker(fake, "--concurrency", "1"):
                failure = wait_until(lambda f=fake: f.failures, 60)[0]
            equal((failure["kind"], failure["side"]), ("machine", ""), failure)
            contains(failure["message"], words)
            equal([path for method, path, _ in fake.heard if method == "GET"], [], "downloads")


if __name__ == "__main__":
    run(each_side_is_built_checked_and_played_for_itself, a_failure_has_the_name_of_its_side,
        a_task_of_other_than_two_sides_is_refused_before_anything_is_fetched)
