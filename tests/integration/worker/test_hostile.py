#!/usr/bin/python3
# test: alone, sanitized if LONG
"""Hostile patches against a real server and worker, at each level of confinement that this machine can have.

The engine of tests/data/hostile does one bad thing: in its build, at bench, or when it is told to go. Every row of the table ends
as a clean, explained failure of that test, or as lost games; the worker goes on, and leaves nothing behind. The levels run side
by side, each with a server and one worker that lives through the whole table; the rows are judged afterwards, one by one."""

import collections
import contextlib
import difflib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import confinement
import database
import server as kit
import tap
import worker as worker_kit
from builds import SANITIZED

ENGINE = kit.ROOT / "tests/data/hostile/engine"
OPENINGS = ["4P3/8/PPPP1PPP", "3P4/8/PPP1PPPP", "7P/8/PPPPPPP1", "P7/8/1PPPPPPP"]
SLOW = 2 if SANITIZED else 1
LEVELS = (2, 1, 0)
# Limits of a build and of a bench, in seconds; the clock of a game has a quarter. Rows about anything else have the ample one. A
# row about a limit of time is tried with the short ones in turn, because on a busy machine an honest program needs longer, too.
AMPLE_S, SHORT_S = 1200, (4 * SLOW, 32 * SLOW, 256 * SLOW)

# What stands in the message of the failure, or in the reason of the lost games, at level 2 and at the levels below. None: the row is
# not tried at that level. FINE: the deed is none, and the test is played to its end.
Row = collections.namedtuple("Row", "sentence where deed argument two one zero")
FINE = "(played to its end)"
DENIED, STATUS, LEFT = "status 1", "status 2", "disconnects"
TIME, ON_TIME = "longer than", "on time"
NO_FILE, NO_NODES = "what lies there is a link, a folder, a pipe or a device", "status 1"
MEMORY, DISK, PROCESSES = "MiB of memory", "MiB of disk", "processes at a time"
FORKED = (PROCESSES, ON_TIME)  # whichever comes first
TABLE = [
    Row("a build that reads a file of the home folder", "build", "read", "HOME/.ssh/id", "denied: read", "denied: read", None),
    Row("a build that reads /etc/shadow", "build", "read", "/etc/shadow", "denied: read", "denied: read", None),
    Row("a build that connects to the server", "build", "connect", "PORT", "denied: connect", "denied: connect", None),
    Row("a build that writes to the home folder", "build", "write", "HOME/new", "denied: write", "denied: write", None),
    Row("a build that writes to the system's /tmp", "build", "write", "TMP", FINE, "denied: write", None),
    Row("a build that forks for ever", "build", "fork", "", TIME, (PROCESSES, TIME), (PROCESSES, TIME)),
    Row("a build that fills the memory", "build", "memory", "", MEMORY, MEMORY, MEMORY),
    Row("a build that fills the disk", "build", "disk", ".", ("No space left", MEMORY), DISK, DISK),
    Row("a build that fills the memory with tables of its pages", "build", "tables", "", MEMORY, MEMORY, MEMORY),
    Row("a build that fills the disk with mapped files that have no name", "build", "hidden", ".", ("No space left", MEMORY), (DISK, MEMORY), (DISK, MEMORY)),
    Row("a build that fills the kernel's memory with locks on files", "build", "locks", "", "denied: lock", "denied: lock", None),
    Row("a build that sleeps for ever", "build", "sleep", "", TIME, TIME, TIME),
    Row("a build that prints for ever", "build", "flood", "", TIME, TIME, TIME),
    Row("a build that kills its parent", "build", "orphan", "", "killed by signal 9", "killed by signal 9", None),
    Row("a build that kills the worker", "build", "kill", "WORKER", "denied: kill", "denied: kill", None),
    Row("a build that traces the worker", "build", "trace", "WORKER", "denied: ptrace", "denied: ptrace", None),
    Row("a build whose binary is a link", "build", "link", "", NO_FILE, NO_FILE, None),
    Row("a build whose binary is a folder", "build", "folder", "", NO_FILE, NO_FILE, None),
    Row("a build whose binary is a pipe", "build", "pipe", "", NO_FILE, NO_FILE, None),
    Row("a build whose binary is a device", "build", "device", "", STATUS, STATUS, None),
    Row("a build whose binary is a hundred gigabytes of nothing", "build", "sparse", "", "the build", "the build", None),
    Row("a build that leaves folders without permissions", "build", "closed", "", "made no file", "made no file", None),
    Row("a build that leaves a daemon", "build", "daemon", "", FINE, FINE, FINE),
    Row("a bench that reads a file of the home folder", "bench", "read", "HOME/.ssh/id", DENIED, DENIED, None),
    Row("a bench that connects to the server", "bench", "connect", "PORT", DENIED, DENIED, None),
    Row("a bench that fills the memory", "bench", "memory", "", MEMORY, MEMORY, MEMORY),
    Row("a bench that fills the memory with shared memory that it does not map", "bench", "shared", "", MEMORY, MEMORY, MEMORY),
    Row("a bench that fills the disk", "bench", "disk", "/tmp", DENIED, DENIED, None),
    Row("a bench that prints for ever", "bench", "flood", "", TIME, TIME, None),
    Row("a bench that kills its parent", "bench", "orphan", "", DENIED, DENIED, None),
    Row("a bench that leaves a daemon", "bench", "daemon", "", FINE, FINE, FINE),
    Row("an engine that reads a file of the home folder in play", "play", "read", "HOME/.ssh/id", LEFT, LEFT, None),
    Row("an engine that connects to the server in play", "play", "connect", "PORT", LEFT, LEFT, None),
    Row("an engine that writes to the home folder in play", "play", "write", "HOME/new", LEFT, LEFT, None),
    Row("an engine that forks for ever in play", "play", "fork", "", ON_TIME, FORKED, FORKED),
    Row("an engine that fills the memory in play", "play", "memory", "", MEMORY, MEMORY, MEMORY),
    Row("an engine that fills the disk in play", "play", "disk", "/tmp", LEFT, LEFT, None),
    Row("an engine that sleeps for ever in play", "play", "sleep", "", ON_TIME, ON_TIME, ON_TIME),
    Row("an engine that prints for ever in play", "play", "flood", "", ON_TIME, ON_TIME, None),
    Row("an engine that kills its parent in play", "play", "orphan", "", LEFT, LEFT, None),
    Row("an engine that kills the worker in play", "play", "kill", "WORKER", LEFT, LEFT, None),
    Row("an engine that traces the worker in play", "play", "trace", "WORKER", LEFT, LEFT, None),
    Row("an engine that leaves a daemon in play", "play", "daemon", "", FINE, FINE, FINE),
]


GOOD = Row("a good patch", "play", "", "", FINE, FINE, FINE)


class Level:
    """One level: its server, its worker, and what became of each row."""

    def __init__(self, number):
        self.number, self.outcomes, self.statuses, self.trouble = number, {}, [], None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"patchmate-hostile-{number}-"))
        self.folder.chmod(0o755)
        self.home = self.folder / "home"
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh/id").write_text("secret\n")
        for path in (self.home, self.home / ".ssh"):
            path.chmod(0o777)  # only the sandbox keeps anyone out
        self.outside = pathlib.Path("/tmp") / f"{self.folder.name}-escaped"
        self.thread = threading.Thread(target=self._run)

    def expected(self, row, level=None):
        return (row.zero, row.one, row.two)[self.number if level is None else level]

    def rows(self):
        """Under sanitizers each row is tried at one of its levels: the sandbox, which is not ours, knows nothing of them."""
        for number, row in enumerate(TABLE):
            levels = [level for level in LEVELS if self.expected(row, level) is not None]
            if self.number in levels and (SLOW == 1 or levels[number % len(levels)] == self.number):
                yield row

    def words(self, row):
        """Of which one must be said."""
        expected = self.expected(row)
        return expected if isinstance(expected, tuple) else (expected,)

    def _in_order(self, rows):
        """Failed and played tests in turn: a worker waits longer after each failure in a row."""
        failing = [row for row in rows if row.where != "play" and self.expected(row) != FINE]
        played = [row for row in rows if row not in failing]
        share = -(-len(failing) // max(1, len(played)))
        for i in range(max(1, len(played))):
            yield from failing[i * share:(i + 1) * share]
            yield from played[i:i + 1]

    def _run(self):
        book = self.folder / "book.epd"
        book.write_text("".join(f"rnbqkbnr/pppppppp/8/8/{opening}/RNBQKBNR b KQkq -\n" for opening in OPENINGS))
        options = ["--sandbox", str(self.number), "--concurrency", "1", "--memory", "320",
                   *(["--no-sandbox"] if self.number == 0 else [])]
        env = {**os.environ, "HOME": str(self.home), "PATCHMATE_PACING": "0.1"}
        try:
            with kit.Server(init_options=["--engine-source", str(ENGINE), "--book", str(book)]) as self.server:
                self.server.add_user("dev", "developer")
                self.server.add_user("boss", "maintainer")
                self.dev, self.boss = self.server.client("dev"), self.server.client("boss")
                with worker_kit.Worker(self.server, *options, env=env, start=False) as self.worker:
                    self.server_pid = self.server.process.pid
                    self._run_table()
        except Exception as trouble:  # told by the rows that have no outcome
            self.trouble = trouble

    def _run_table(self):
        rows = list(self.rows())
        limited = [row for row in rows if TIME in self.words(row) or ON_TIME in self.words(row)]
        self._try_all([row for row in rows if row not in limited], AMPLE_S)
        for seconds in SHORT_S:
            self._try_all(limited, seconds)
            limited = [row for row in limited if self._fault_of(row)]
        self._try_all([GOOD], AMPLE_S)
        self.left = self.worker.nothing_left()
        cache = self.worker.cache
        self.files = [str(path) for path in cache.glob("*/work/*")] + [str(path) for path in cache.glob("builds/*/*")
                                                                       if path.name not in ("engine", "build.json", "used")]
        self.log = self.worker.log()

    def _try_all(self, rows, seconds):
        """With a worker whose builds and benches may take so long."""
        if not rows:
            return
        self.worker.start("--build-time", str(seconds))
        kit.wait_until(lambda: "registered" in self.worker.log(), 30)
        for row in self._in_order(rows):
            self.outcomes[row] = self._try(row, seconds)
        self.worker.signal(signal.SIGINT)
        self.statuses.append(self.worker.wait())

    def _fault_of(self, row):
        """What is wrong with a row's outcome, or nothing."""
        try:
            judge(self, row)
        except AssertionError as fault:
            return fault
        return None

    def _patch(self, row):
        words = {"HOME": str(self.home), "PORT": str(self.server.port), "WORKER": str(self.worker.process.pid),
                 "TMP": str(self.outside)}
        argument = row.argument
        for word, value in words.items():
            argument = argument.replace(word, value)
        name = "Makefile" if row.where == "build" else "main.c"
        before = (ENGINE / name).read_text()
        old, new = {"build": ("DEED =", f"DEED = {row.deed} {argument}"),
                    "bench": ('at_bench[] = {"", ""}', f'at_bench[] = {{"{row.deed}", "{argument}"}}'),
                    "play": ('at_play[] = {"", ""}', f'at_play[] = {{"{row.deed}", "{argument}"}} /* {row.where} */')}[row.where]
        after = before.replace(old, new, 1)
        return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}"))

    def _try(self, row, seconds):
        """What the server knows of the test in the end: (message, log) of a failure, or (reasons of lost games, "")."""
        form = {"engine": "anvil", "title": row.sentence[:60], "patch": self._patch(row), "workload": "fixed", "games": 2,
                "tc": f"{seconds / 4}+0.01", "batch_pairs": 1, "new_options": "Hash=1", "base_options": "Hash=1", "draw": "off",
                "resign": "off", "max_moves": 10}
        reply = self.dev.api("POST", "/tests", form)
        tap.equal(reply.status, 201, repr(reply))
        test = reply.json["id"]
        tap.equal(self.boss.api("POST", f"/tests/{test}/approve", {}).status, 200)
        kit.wait_until(lambda: self._finished(test) or self.worker.process.poll() is not None, 300, 0.1)
        return self._outcome(test)

    def _finished(self, test):
        return self.dev.api("GET", f"/tests/{test}").json["state"] == "finished"

    def _outcome(self, test):
        document = self.dev.api("GET", f"/tests/{test}").json
        lost = database.sql(self.server, "SELECT counts ->> 'losses' FROM tests WHERE id = ?", test)[0][0]
        alive = self.worker.process.poll() is None
        if document.get("failures"):
            failure = document["failures"][0]
            return {"alive": alive, "kind": failure["kind"], "said": failure["message"], "log": failure.get("log") or ""}
        if lost:
            kit.wait_until(lambda: self.dev.api("GET", f"/tests/{test}/faults").json["total"], 10)
            faults = self.dev.api("GET", f"/tests/{test}/faults").json["items"]
            reason = self.dev.api("GET", f"/faults/{faults[0]['id']}").json["fault"]["reason"]
            return {"alive": alive, "kind": "play", "said": reason, "log": "", "lost": lost}
        return {"alive": alive, "kind": "played", "said": FINE, "log": "", "result": document.get("result")}


def judge(level, row):
    """Whether a row came out as it should."""
    got, wanted = level.outcomes[row], level.expected(row)
    tap.true(got["alive"], "the worker lives on")
    text = got["said"] + "\n" + got["log"]
    tap.true(any(part in text for part in level.words(row)), f"{wanted!r} is not in {text!r}")
    tap.true("BREACH" not in got["log"] or wanted == FINE, got["log"][-300:])
    tap.equal(got["kind"], "played" if wanted == FINE else row.where, got["said"])
    if got["kind"] == "play":
        tap.equal(got["lost"], 2, "lost games")


def row_test(level, row):
    def test():
        tap.true(row in level.outcomes, f"the row was not reached: {level.trouble!r}")
        got = level.outcomes[row]
        print(f"#     {got['kind']}: {got['said'].splitlines()[0][:150]}")
        judge(level, row)
    test.__name__ = f"level_{level.number}:_{row.sentence.replace(' ', '_')}"
    return test


def end_tests(level):
    def the_worker_then_finishes_a_good_test():
        tap.equal(level.outcomes.get(GOOD, {}).get("kind"), "played", repr(level.trouble))

    def nothing_is_left_of_it_all():
        tap.true(level.statuses and not any(level.statuses), f"the worker's ends: {level.statuses}")
        tap.equal(level.left, [], "processes")
        tap.equal(level.files, [], "files")
        tap.true(not (level.home / "new").exists() and not level.outside.exists(), "nothing was written outside")

    for test in (the_worker_then_finishes_a_good_test, nothing_is_left_of_it_all):
        sentence = test.__name__
        test.__name__ = f"level_{level.number}:_{sentence}"
        yield test


def main():
    wanted = [int(word) for word in sys.argv[1:] if word in "012"] or LEVELS
    sys.argv[1:] = [word for word in sys.argv[1:] if word not in "012"]
    reasons = {number: confinement.missing(number) for number in wanted}
    levels = [Level(number) for number in wanted if not reasons[number]]
    # Where no namespace counts processes for itself, what forks for ever is felt by all that the user runs.
    for together in ([level for level in levels if level.number], [level for level in levels if not level.number]):
        for level in together:
            level.thread.start()
        for level in together:
            level.thread.join()
    try:
        tests = [tap.skipped(f"level {number}", reasons[number]) for number in wanted if reasons[number]]
        for level in levels:
            tests += [row_test(level, row) for row in level.rows()] + list(end_tests(level))
        tap.run(*tests)
    finally:
        for level in levels:
            shutil.rmtree(level.folder, ignore_errors=True)
            with contextlib.suppress(FileNotFoundError):
                level.outside.unlink()


if __name__ == "__main__":
    main()
