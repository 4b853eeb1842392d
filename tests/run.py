#!/usr/bin/python3
"""Runs the project's tests and adds them up.

Every test is a program that prints TAP ("ok 1 - sentence", "not ok 2 - …", "ok 3 - … # SKIP why") and
runs with the repository as its folder and BUILD naming the programs. A program that ends with an
error, is killed, runs past its limit or prints no plan and no test counts as one failure, so nothing
can pass by saying nothing. The last line is "N passed, N failed, N skipped".

Programs of all parts are run in one queue, a few at a time: most tests wait most of the time. What only computes (builds of
later parts, fuzzing, signatures, lint) goes on beside them, one after the other and with less priority. Each program has its
line of output as soon as it ends.

A script says in its head what is special about it: "# test: first, plain if LONG". PROPERTIES lists what it may say.

LONG=1 in the environment runs all there is: both builds where they may differ, deeper perft, more fuzzing, every compiler. Without it
each sentence is run at least once, and all is over in 12 minutes on two idle cores.

LOAD=N starts N busy processes beside the tests; limits of time grow with them.

usage: tests/run.py [--build DIR] [--list] [PART…]     without parts: all of them; --list names the programs only
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
LINE = re.compile(r"^(not )?ok\b[ \t]*\d*[ \t]*-?[ \t]*(.*)$")

Program = collections.namedtuple("Program", "name argv env properties", defaults=({}, frozenset()))
LONG = bool(os.environ.get("LONG"))
LOAD = int(os.environ.get("LOAD") or 0)
PATIENCE = 1 + LOAD / 2  # limits of time, beside so many busy processes
JOBS = 3 + LOAD // 2  # programs at a time, on two CPUs; beside busy processes more, so that each share is not too small
LIMIT_S = 3600  # of a program, for one that never ends
PROPERTIES = {
    "alone": "no other test runs beside it: its hundreds of busy processes would make one of the two fail",
    "first": "it takes long, and is begun first, so that it is not left for last",
    "plain only": "it is about files of the installation and not about our code, which sanitizers look at",
    "sanitized only": "it is about answers, time and order alone, which are the same in both builds",
    "plain if LONG": "the build with sanitizers is enough else",
    "sanitized if LONG": "the plain build is enough else",
}
LATE = ("signatures", "lint")  # begun when only what must be alone is left, which mostly waits
Result = collections.namedtuple("Result", "program passed failed skipped output seconds cpu")
TIMED = ("bash", "-c", 'TIMEFORMAT="# cpu %U %S"; time "$@"', "bash")  # runs the rest, and tells what it and its children took
CPU = re.compile(r"^# cpu ([0-9.]+) ([0-9.]+)\n?", re.M)


def shared_folder():
    return os.environ.get("PATCHMATE_SHARED", os.path.join(ROOT, "..", "shared"))


def read_tap(output):
    """Lists of names: passed, failed, skipped."""
    passed, failed, skipped = [], [], []
    for line in output.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        name = match.group(2)
        if match.group(1) and not re.match(r"#\s*skip", name, re.I):  # cmocka writes "not ok 1 # SKIP name"
            failed.append(name)
        elif re.search(r"#\s*skip", name, re.I):
            skipped.append(name)
        else:
            passed.append(name)
    return passed, failed, skipped


def stop_group(process):
    """Ends what the test started as well: each program leads a process group of its own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


RUNNING = set()


def stop_all(*pools):
    """For a run that is interrupted: its programs are in sessions of their own, and the terminal's Ctrl-C does not reach them."""
    for pool in pools:
        pool.shutdown(wait=False, cancel_futures=True)
    for process in list(RUNNING):
        stop_group(process)


def run(program, build):
    started = time.monotonic()
    env = {**os.environ, "BUILD": build, "PATCHMATE_SHARED": shared_folder(),
           "CMOCKA_MESSAGE_OUTPUT": "TAP", "PYTHONDONTWRITEBYTECODE": "1",
           "TESTS_PATIENCE": str(PATIENCE), "PATCHMATE_FUZZ_SECONDS": "3" if LONG else "1",
           "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1",
           "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1", **program.env}
    process = subprocess.Popen([*TIMED, *program.argv], cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    RUNNING.add(process)
    try:
        output = process.communicate(timeout=LIMIT_S * PATIENCE)[0].decode(errors="replace")
        ending = "" if process.returncode == 0 else f"ended with status {process.returncode}"
    except subprocess.TimeoutExpired:
        stop_group(process)
        output = process.communicate()[0].decode(errors="replace")
        ending = f"did not end within {LIMIT_S * PATIENCE:.0f} s"
    finally:
        stop_group(process)
        RUNNING.discard(process)
    passed, failed, skipped = read_tap(output)
    if ending and not failed:
        failed = [f"{program.name} {ending}"]
    elif not passed and not failed and not skipped:
        failed = [f"{program.name} printed no test"]
    cpu = sum(float(x) for told in CPU.findall(output)[-1:] for x in told)
    return Result(program, passed, failed, skipped, CPU.sub("", output), time.monotonic() - started, cpu)


# ---- the parts -------------------------------------------------------------------------------------

def unit(build, name="unit"):
    names = sorted(os.path.basename(f)[:-2] for f in glob.glob(f"{ROOT}/tests/unit/*/test_*.c"))
    return [Program(f"{name}/{n}", [f"{build}/tests/{n}"]) for n in names]


def perft(build, name="perft", standard=(), chess960=("--max-depth", "4")):
    data = os.path.join(shared_folder(), "data", "perft")
    tool = [f"{build}/tests/perft_suite"]
    programs = [Program(f"{name}/own", tool + ["tests/data/perft/own.epd"])]
    for suite, limits in (("standard", standard), ("chess960", chess960)):
        path = f"{data}/{suite}.epd"
        argv = tool + [path, *limits] if os.path.exists(path) else \
            ["echo", f"1..1\nok 1 - {suite}.epd # SKIP needs ../shared"]
        programs.append(Program(f"{name}/{suite}", argv))
    return programs


def properties(path):
    """What a script says of itself."""
    with open(path, encoding="utf-8") as file:
        said = re.findall(r"^# test: *(.*)", file.read(), re.M)
    found = frozenset(word for line in said for word in re.split(r", *", line))
    for word in found - PROPERTIES.keys():
        raise SystemExit(f"{path}: no property of tests is called \"{word}\"; there are: {', '.join(PROPERTIES)}")
    return found


def scripts(folder, name, without, env=None):
    """The programs of a folder, but for those that have one of the properties `without`."""
    files = sorted(glob.glob(f"{ROOT}/tests/{folder}/**/test_*.py", recursive=True), key=os.path.basename)
    programs = [Program(f"{name}/{os.path.basename(f)[5:-3]}", [PYTHON, f], env or {}, properties(f)) for f in files]
    return sorted((p for p in programs if not p.properties & without), key=lambda p: "first" not in p.properties)


def computing(name, *argv):
    """A program that takes what the tests beside it leave over."""
    return Program(name, ["nice", "-n", "0" if LOAD else "5", *argv])


def good(sentence, *argv):
    """Words of a command that passes where this one ends well."""
    return ["sh", "-c", '"$@" && echo "ok 1 - $0"', sentence, *argv]


def make(*arguments):
    return ["make", "--no-print-directory", "-C", ROOT, "-j2", *arguments]


PARTS, BESIDE = {}, {}


def part(function):
    PARTS[function.__name__] = function
    return function


def beside(name):
    """Gives the part `name` what goes on beside the queue; the part's own programs begin when it is over."""
    def keep(function):
        BESIDE[name] = function
        PARTS[name] = lambda _build: []  # until there is more to it
        return function
    return keep


@part
def units(build):
    return unit(build)


@part
def rules(build):
    return perft(build, standard=("--max-nodes", "1000000000" if LONG else "200000000"))


@part
def statistics(build):
    return [Program("statistics/montecarlo", [f"{build}/tests/sprt_montecarlo"])]


@part
def integration(_build):
    return scripts("integration", "integration", {"sanitized only"} | (set() if LONG else {"plain if LONG"}))


@part
def browser(_build):
    return scripts("browser", "browser", set())


@beside("sanitized")
def sanitized_build(build):
    return computing("sanitized/build", *good("all builds with sanitizers",
                     *make("SANITIZE=address,undefined", "OPT=-O1 -g1", f"BUILD={build}", "tests-built")))


@part
def sanitized(build):
    """The unit and integration tests once more under AddressSanitizer and UBSan."""
    out = f"{build}/sanitize"
    programs = unit(out, "sanitized") + perft(out, "sanitized-perft", ("--max-depth", "4"),
                                              ("--max-depth", "3"))
    without = {"plain only"} | (set() if LONG else {"sanitized if LONG"})
    return scripts("integration", "sanitized-integration", without, {"BUILD": out, "SANITIZED": "1"}) + programs


@beside("fuzz")
def fuzz_targets(build):
    return computing("fuzz", "sh", "-c", '"$@" && exec ' + f"{PYTHON} tests/fuzz.py", "sh", *make(f"BUILD={build}", "fuzz-built"))


@beside("signatures")
def four_builds(_build):
    return computing("signatures/bench", PYTHON, "tests/signatures.py")


@beside("lint")
def linters(build):
    return computing("lint", *good("make lint is clean", *make(f"BUILD={build}", "lint")))


class Load:
    """Busy processes beside the tests; they end with this one, however it ends."""

    def __enter__(self):
        busy = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"]
        self.processes = [subprocess.Popen(busy, start_new_session=True) for _ in range(LOAD)]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


# ---- the run ---------------------------------------------------------------------------------------

def report(result):
    what = f"{len(result.passed)} passed"
    if result.skipped:
        what += f", {len(result.skipped)} skipped"
    if result.failed:
        what += f", {len(result.failed)} FAILED"
    print(f"  {result.program.name:<44} {what:<34} {result.seconds:6.1f} s {result.cpu:6.1f} s CPU", flush=True)
    for name in result.skipped:
        print(f"      skipped: {name}", flush=True)
    if result.failed:
        tail = "\n".join(result.output.splitlines()[-60:])
        print("      | " + tail.replace("\n", "\n      | "), flush=True)
        for name in result.failed:
            print(f"      FAILED: {name}", flush=True)


def is_alone(program):
    return "alone" in program.properties


def run_parts(names, build):
    """All results, each reported as soon as its program has ended."""
    results, one_at_a_time = [], threading.Lock()

    def play(program, before=None):
        """Its result; None if what it needs could not be made."""
        if before and before.result().failed:
            return None
        result = run(program, build)
        with one_at_a_time:
            report(result)
            results.append(result)
        return result

    lane, queue = concurrent.futures.ThreadPoolExecutor(1), concurrent.futures.ThreadPoolExecutor(JOBS)
    try:
        beside = {name: BESIDE[name](build) for name in names if name in BESIDE}
        programs = [(name, program) for name in names for program in PARTS[name](build)]
        before = {name: lane.submit(play, program) for name, program in beside.items() if name not in LATE}
        queued = [queue.submit(play, program, before.get(name)) for name, program in programs if not is_alone(program)]
        for future in queued:
            future.result()
        before.update({name: lane.submit(play, program) for name, program in beside.items() if name in LATE})
        for name, program in programs:
            if is_alone(program):
                play(program, before.get(name))
        for future in before.values():
            future.result()
    except BaseException:
        stop_all(lane, queue)
        raise
    finally:
        lane.shutdown(cancel_futures=True)
        queue.shutdown(cancel_futures=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    arguments = parser.parse_args()
    unknown = [p for p in arguments.parts if p not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]}; there are {', '.join(PARTS)}")
    names, build = arguments.parts or list(PARTS), os.path.abspath(arguments.build)
    if arguments.list:
        for name in names:
            beside = [BESIDE[name](build)] if name in BESIDE else []
            print(*[program.name for program in beside + PARTS[name](build)], sep="\n")
        return 0
    started = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Load():
        results = run_parts(names, build)
    print(f"\nall in {time.monotonic() - started:.0f} s")
    for result in results:
        for name in result.failed:
            print(f"FAILED {result.program.name}: {name}")
    passed, failed, skipped = (sum(len(getattr(r, k)) for r in results)
                               for k in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
