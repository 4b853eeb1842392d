#!/usr/bin/python3
"""An engine that computes in its opponent's time (build/match, the toy engine's `steal=`): by one thread, by threads and
processes that are gone when it is asked again, by processes that it does not wait for. What it used is told with the game, by side,
at each level of the sandbox, and it loses by that under -fair; and it cannot leave its CPU."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import confinement  # noqa: E402
from builds import MATCH, TOY, USUAL  # noqa: E402
from tap import LOAD_FACTOR, Skip, equal, run, true  # noqa: E402

TEMPORARY = tempfile.TemporaryDirectory(prefix="thief-test-")
FOLDER = pathlib.Path(TEMPORARY.name)
OWN_TOY = FOLDER / "toy"
WAYS = ("thread", "threads", "processes", "orphans", "ignored")
MOVE_MS, PLIES = 30, 16  # the honest engine's CPU time for a move, and its moves


def player(name, level, *words):
    """The toy engine as `match` starts it, at a level of the sandbox."""
    command = [f"cmd={OWN_TOY}"] if level == 0 else [f"cmd={USUAL}/tests/sandboxed", f"arg={level}", f"arg={FOLDER}", "arg=toy"]
    return ["-engine", f"name={name}", *command, *[f"arg={word}" for word in words]]


def play(level, way):
    """The JSON lines of a pair of games between a thief (way "": a second honest engine) and an honest engine on one CPU. They
    share it, whatever else runs."""
    lines = FOLDER / f"{level}-{way}.json"
    lines.unlink(missing_ok=True)
    done = subprocess.run(
        [MATCH, *player("thief", level, f"steal={way}" if way else f"think={MOVE_MS}"), *player("honest", level, f"think={MOVE_MS}"),
         "-each", "tc=30+1", "-rounds", "1", "-repeat", "-maxmoves", str(PLIES // 2), "-fair", "-use-affinity", "-jsonout", f"file={lines}"],
        capture_output=True, text=True, timeout=120 * LOAD_FACTOR)
    equal(done.returncode, 0, done.stdout + done.stderr)
    return [json.loads(line) for line in lines.read_text().splitlines()]


def rests(lines):
    """Seconds of CPU that each engine used while the other was to move, over the games."""
    sums = {"thief": 0, "honest": 0}
    for game in (line for line in lines if line["type"] == "game"):
        for colour in ("white", "black"):
            sums[game[colour]] += game[f"{colour}_rest_us"] / 1e6
    return sums


def stolen(level, way):
    if confinement.missing(level):
        raise Skip(confinement.missing(level))
    lines = play(level, way)
    seen = rests(lines)
    true(seen["thief"] > PLIES * MOVE_MS / 1000 / 8, str(seen))
    true(seen["honest"] < seen["thief"] / 4, str(seen))
    equal(lines[-1]["clock"]["rests_us"], [round(seen[name] * 1e6) for name in ("thief", "honest")])
    for game in (line for line in lines if line["type"] == "game"):
        colour = "White" if game["white"] == "thief" else "Black"
        equal((game["end"], game["culprit"], game["reason"]), ("ponder", "thief", f"{colour} computes in its opponent's time"))
        equal(game["result"], "0-1" if colour == "White" else "1-0")


def two_honest_engines_on_one_CPU_do_not_lose_by_it():
    equal([game["end"] for game in play(0, "") if game["type"] == "game"], ["adjudication", "adjudication"])


def the_machine_is_not_blamed_for_the_cpu_time_of_the_opponent():
    """On one CPU a move's time holds the engine's own CPU time, the opponent's, and the wait for others: not more."""
    thought = accounted = taken = 0
    for game in (line for line in play(0, "thread") if line["type"] == "game"):
        first = 0 if game["white"] == "honest" else 1  # no opening: White begins
        for name in ("cpus_us", "delays_us"):
            accounted += sum(number or 0 for number in game[name][first::2])
        thought += sum(game["times_us"][first::2])
        taken += game["black_rest_us" if game["white"] == "honest" else "white_rest_us"]
    true(taken > PLIES * MOVE_MS * 1000 / 8, f"{taken} us were taken")
    true(accounted + taken < thought * 1.1, f"{accounted} and {taken} of {thought} us")


ROAMER = """#!/usr/bin/python3
import os
before = os.sched_getaffinity(0)
os.sched_setaffinity(0, range(256))
print(len(before), len(os.sched_getaffinity(0)))
"""


def roaming(level):
    if confinement.missing(level):
        raise Skip(confinement.missing(level))
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("there is one CPU only")
    script = FOLDER / "roamer"
    script.write_text(ROAMER)
    script.chmod(0o755)
    done = subprocess.run(["taskset", "-c", str(cpus[0]), USUAL / "tests/sandboxed", str(level), FOLDER, "roamer"],
                          capture_output=True, text=True, timeout=60 * LOAD_FACTOR)
    equal(done.stdout, "1 1\n", done.stderr)


def a_roamer(level):
    def test():
        roaming(level)
    test.__name__ = f"a_program_that_asks_for_all_CPUs_in_play_stays_on_its_own_at_level_{level}"
    return test


def a_theft(level, way):
    def test():
        stolen(level, way)
    test.__name__ = f"computing_by_{way}_in_the_opponents_time_is_seen_at_level_{level}"
    return test


shutil.copy(TOY, OWN_TOY)
# What is lost without a sandbox: the CPU time of processes whose parent does not wait for them.
LOST = [(0, "orphans"), (0, "ignored")]
run(the_machine_is_not_blamed_for_the_cpu_time_of_the_opponent, two_honest_engines_on_one_CPU_do_not_lose_by_it, *[a_roamer(level) for level in (1, 2)], *[a_theft(level, way) for level in (0, 1, 2) for way in WAYS if (level, way) not in LOST])
