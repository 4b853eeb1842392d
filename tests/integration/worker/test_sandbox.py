#!/usr/bin/python3
"""What strangers' programs can reach, and what outlives a worker, at each level of confinement that this machine can have.

The worker is started by a careless parent: with a folder and a socket left open, and a secret in its environment. A program that lists
all it can reach (worker/selftest/inside/probe.c) runs in a build, at bench and in play, and comes out in failures and fault reports. What it prints
is compared with the lists that the worker's self-test has, worker/selftest/inside/level_1 and level_2. Then workers are killed while strangers'
processes do their best to stay. Both levels run side by side, each with a server and worker of its own."""

import contextlib
import difflib
import fnmatch
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import confinement
import database
import server as kit
import tap
import worker as worker_kit

ENGINE = kit.ROOT / "tests/data/sandbox/engine"
# Run against the programs of an older commit (tests/at), the probe and its lists are those of today's checkout.
LISTS = (kit.ROOT.parents[2] if kit.ROOT.parent.name == "at" else kit.ROOT) / "worker/selftest/inside"
WHERE = ("build", "bench", "play")
FOLDER_FD, SOCKET_FD, SECRET = 33, 34, "hunter2-of-the-volunteer"


class Level:
    def __init__(self, number, landlock=True):
        self.number, self.landlock = number, landlock and confinement.landlock_version() >= (2 if number == 2 else 1)
        self.name = f"level {number}" + ("" if landlock else " without Landlock")
        self.kills = landlock
        self.facts, self.logs, self.trouble, self.lives = {}, {}, None, {}
        self.stray = f"stray{number}-{os.getpid()}"[:15]  # of one level that kills
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"patchmate-sandbox-{number}-"))
        self.home = self.folder / "home-of-julia"
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        try:
            self._prepare()
            book = database.write_plain_book(self.folder / "book.epd")
            with kit.Server(init_options=["--engine-source", str(self.engine), "--book", str(book)]) as self.server:
                self.server.add_user("dev", "developer")
                self.server.add_user("boss", "maintainer")
                self.dev, self.boss = self.server.client("dev"), self.server.client("boss")
                with CarelessWorker(self) as self.worker:
                    kit.wait_until(lambda: f"sandbox level {self.number}" in self.worker.log(), 30)
                    for where in WHERE:
                        self._look_around(where)
                    self.secrets = [SECRET, *(value for value in json.loads(self.worker.identity()).values() if isinstance(value, str) and len(value) > 30)]
                    if self.kills:
                        self._kill_worker()
                        self._kill_worker_and_guard()
                        self._kill_all_that_ends_sandboxes()
        except Exception as trouble:  # told by the tests that lack their outcome
            self.trouble = trouble

    def _prepare(self):
        self.folder.chmod(0o755)
        self.home.mkdir()
        (self.home / "key").write_text("secret\n")
        for path in (self.home, self.home / "key"):
            path.chmod(0o777)  # only the sandbox keeps anyone out
        self.engine = self.folder / "engine"
        shutil.copytree(ENGINE, self.engine)
        shutil.copy(LISTS / "probe.c", self.engine)

    def _submit(self, where, deed):
        file, old, new = {"build": ("Makefile", "DEED =", f"DEED = {deed}"),
                          "bench": ("main.c", 'at_bench = ""', f'at_bench = "{deed}"'),
                          "play": ("main.c", 'at_play = ""', f'at_play = "{deed}"')}[where]
        before = {name: (self.engine / name).read_text() for name in ("Makefile", "main.c")}
        after = dict(before)
        after[file] = after[file].replace(old, new, 1)
        after["main.c"] = after["main.c"].replace('"stray"', f'"{self.stray}"', 1)
        patch = "".join("".join(difflib.unified_diff(before[name].splitlines(True), after[name].splitlines(True), f"a/{name}", f"b/{name}"))
                        for name in before)
        form = {"engine": "anvil", "title": f"{where} {deed}", "patch": patch, "workload": "fixed", "games": 2, "tc": "600+1",
                "batch_pairs": 1, "new_options": "Hash=1", "base_options": "Hash=1"}
        reply = self.dev.api("POST", "/tests", form)
        tap.equal(reply.status, 201, repr(reply))
        tap.equal(self.boss.api("POST", f"/tests/{reply.json['id']}/approve", {}).status, 200)
        return reply.json["id"]

    # ---- looking around

    def _look_around(self, where):
        test = self._submit(where, "probe")
        if where == "play":
            faults = lambda: [item for item in self.dev.api("GET", f"/tests/{test}/faults").json["items"] if item["side"] == "new"]
            kit.wait_until(faults, 60, 0.05)
            log = self.dev.api("GET", f"/faults/{faults()[0]['id']}").json["errors"]["new"]
        else:
            failures = lambda: self.dev.api("GET", f"/tests/{test}").json["failures"]
            kit.wait_until(failures, 60, 0.05)
            log = failures()[0]["log"]
        self.dev.api("POST", f"/tests/{test}/stop", {})
        self.logs[where] = log
        self.facts[where] = sorted(line[5:] for line in log.splitlines() if line.startswith("fact "))

    # ---- kill -9

    def _strays(self):
        found = []
        for pid in worker_kit.processes():
            try:
                if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == self.stray and worker_kit.stat(pid)[0] not in "ZX":
                    found.append(pid)
            except (OSError, TypeError):
                continue
        return found

    def _gone(self):
        """What does not end."""
        return [(pid, worker_kit.command_line(pid)) for pid in kit.still_there(lambda: self._strays() + self.worker.left_over())]

    def _end_strays(self):
        """Where they do live on: by groups, because some of them fork all the time."""
        while strays := self._strays():
            for pid in strays:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(os.getpgid(pid), signal.SIGKILL)

    def _kill_worker(self):
        for where in ("build", "play"):
            test = self._submit(where, "strays")
            kit.wait_until(lambda: len(self._strays()) >= 6, 60, 0.05)
            self.worker.kill()
            self.lives[where] = self._gone()
            self._end_strays()
            self.dev.api("POST", f"/tests/{test}/stop", {})
            self.worker.start()

    def _begin_strays(self):
        test = self._submit("play", "strays")
        kit.wait_until(lambda: len(self._strays()) >= 6, 60, 0.05)
        self.worker.remember()
        return test

    def _kill(self, *more):
        """Stopped first, so that none of them sees another end."""
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in [*more, self.worker.process.pid]:
                os.kill(pid, number)
        self.worker.wait()

    def _guards(self):
        return [pid for pid in worker_kit.processes() if worker_kit.is_guard(pid, self.worker.process.pid)]

    def _kill_worker_and_guard(self):
        test = self._begin_strays()
        self._kill(*self._guards())
        self.lives["play, without the guard"] = self._gone()
        self._end_strays()
        self.dev.api("POST", f"/tests/{test}/stop", {})
        self.worker.start()

    def _kill_all_that_ends_sandboxes(self):
        """What ends the sandboxes is ended first, so that there is something left for the next start."""
        test = self._begin_strays()
        self.bystander = self._bystander()
        keepers = [pid for pid, _ in worker_kit.descendants(self.worker.process.pid) if worker_kit.is_keeper(pid)]
        self._kill(*self._guards(), *keepers)
        time.sleep(0.3)
        self.left_at_first = len(self._strays())
        self.dev.api("POST", f"/tests/{test}/stop", {})
        self.worker.start()
        self.lives["next start"] = kit.still_there(self._strays)
        self._end_strays()
        self.bystander_lives = self.bystander.poll() is None
        self.bystander.kill()
        self.bystander.wait()
        self.worker.kill()

    def _bystander(self):
        """A process of the same user that is not the sandbox's, with a limit of the kind by which the worker knows its own."""
        owner = self.worker.cache.stat().st_uid

        def become():
            resource.setrlimit(resource.RLIMIT_RTTIME, (1 << 40, 1 << 40))
            if os.getuid() == 0:
                os.setgid(owner)
                os.setuid(owner)
        return subprocess.Popen(["sleep", "infinity"], stdin=subprocess.DEVNULL, preexec_fn=become)


class CarelessWorker(worker_kit.Worker):
    """Its parent has left open what it should not have, and told it what is none of its business."""

    def __init__(self, level):
        self.level = level
        env = {**os.environ, "HOME": str(level.home), "MYSECRET": SECRET, "PATCHMATE_PACING": "0.1"}
        super().__init__(level.server, "--sandbox", str(level.number), "--concurrency", "1", "--memory", "320", env=env, start=False)
        self.cache = level.home / "cache"
        self.start()

    def start(self, *more):
        with open(self.log_path, "ab") as log, socket.create_connection(("127.0.0.1", self.server.port)) as connection:
            folder = os.open("/", os.O_RDONLY)
            numbers = [(folder, FOLDER_FD), (connection.fileno(), SOCKET_FD)]
            high = [(os.dup2(fd, self.level.descriptors + i), to) for i, (fd, to) in enumerate(numbers)]
            os.close(folder)

            def leave_open():
                if not self.level.landlock:
                    confinement.give_up_landlock()
                for fd, to in high:
                    os.dup2(fd, to, inheritable=True)
            self.process = subprocess.Popen(
                [str(kit.BUILD / "worker"), "--server", self.server.url, "--cache", str(self.cache), *self.options, *more],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, close_fds=False, preexec_fn=leave_open)
            for fd, _ in high:
                os.close(fd)


def allowed(level, where):
    """[(must be there, pattern)] of the list: lines of `WHERE PATTERN`, with `?` before what only some machines have, and `~` before
    what only those have that lack Landlock."""
    wanted = []
    for line in (LISTS / f"level_{level.number}").read_text().splitlines():
        words = line.split(None, 1)
        if words and words[0].lstrip("?~") in ("all", where) and not (line.startswith("~") and level.landlock):
            wanted.append((line[0] not in "?~", words[1]))
    return wanted


def tests_of(level):
    def named(test, name):
        test.__name__ = f"{level.name}:_{name}".replace(" ", "_")
        return test

    def reaches_what_is_allowed(where):
        def test():
            tap.true(where in level.facts and "end" in level.facts[where], f"the probe did not end: {level.trouble!r} {level.logs.get(where)}")
            wanted = allowed(level, where)
            more = [fact for fact in level.facts[where] if not any(fnmatch.fnmatchcase(fact, pattern) for _, pattern in wanted)]
            less = [pattern for must, pattern in wanted if must and not any(fnmatch.fnmatchcase(fact, pattern) for fact in level.facts[where])]
            tap.equal(more, [], "reached, and not allowed")
            tap.equal(less, [], "allowed, and not reached")
        return named(test, f"a program of strangers in {where} reaches what is allowed and nothing else")

    def nothing_is_told():
        tap.equal(sorted(level.logs), sorted(WHERE), repr(level.trouble))
        tap.true(len(level.secrets) > 1, "the worker has a token")
        for where, log in level.logs.items():
            # Below level 2 a program works in a folder of the host, and so knows its path.
            for secret in (*level.secrets, *([level.home.name] if level.number == 2 else [])):
                tap.true(secret not in log, f"{secret} was told in {where}: {[line[:120] for line in log.splitlines() if secret in line]}")

    def lives_on(what):
        def test():
            tap.true(what in level.lives, repr(level.trouble))
            tap.equal(level.lives[what], [], "processes that outlived their worker")
        return named(test, f"nothing of a sandbox in {what} outlives a worker that is killed")

    def the_next_start_ends_it():
        tap.true("next start" in level.lives, repr(level.trouble))
        print(f"#     {level.left_at_first} processes had outlived the worker")
        if level.number == 1:
            tap.true(level.left_at_first > 0, "nothing was left to be ended")
        tap.equal(level.lives["next start"], [], "processes that outlived the next start")

    def no_bystander_is_ended():
        tap.true("next start" in level.lives, repr(level.trouble))
        tap.true(level.bystander_lives, "a process that is not the worker's was ended")

    reach = [*[reaches_what_is_allowed(where) for where in WHERE],
             named(nothing_is_told, "neither the worker's token nor the volunteer's environment and home are told")]
    return reach if not level.kills else [
            *reach,
            *[lives_on(where) for where in ("build", "play", "play, without the guard")],
            named(the_next_start_ends_it, "what outlived worker, guard and keepers ends when the worker starts again"),
            named(no_bystander_is_ended, "a process of the same user beside them lives on")]


def main():
    reasons = {number: confinement.missing(number) for number in (2, 1)}
    levels = [Level(number) for number, reason in reasons.items() if not reason]
    levels += [] if reasons[2] else [Level(2, landlock=False)]
    for i, level in enumerate(levels):
        level.descriptors = 200 + 10 * i
        level.thread.start()
    for level in levels:
        level.thread.join()
    try:
        tests = [tap.skipped(f"level {number}", reason) for number, reason in reasons.items() if reason]
        tap.run(*tests, *[test for level in levels for test in tests_of(level)])
    finally:
        if os.environ.get("SHOW_FACTS"):
            for level in levels:
                for where, facts in level.facts.items():
                    pathlib.Path(os.environ["SHOW_FACTS"], f"{level.name}_{where}".replace(" ", "_")).write_text("\n".join(facts) + "\n")
        for level in levels:
            shutil.rmtree(level.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
