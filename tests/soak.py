#!/usr/bin/python3
"""A soak: one server, two confined workers, a test of our own engine against itself, and no peace. At random moments
workers and server are killed, stopped for a while, told to leave, and started again; now and then a lease runs out while
its worker is stopped. At the end everything must add up: no pair lost, none counted twice, no process and no file left
over, memory flat. Beside it a second server, with sanitizers, takes random requests for as long (tests/kit_py/sequences.py).

usage: tests/soak.py [--build DIR] [--minutes N] [--seed N] [--tc CLOCK] [--keep]      Ctrl-C: that is enough, reckon up"""
import argparse
import collections
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "kit_py"))
WORKERS, BATCH = 2, 2
# A start needs this long to come to play: no event hits the same program sooner.
QUIET_S = (1.0, 6.0)
# What may stand in a log without anything being wrong: the outages are of our making.
TROUBLE = re.compile(r"\b(error|fatal|corrupt|assert|Sanitizer|runtime error|panic|bug)\b", re.I)
# All that may lie in the folders of a worker and of a server that have ended.
WORKER_FILES = re.compile(r"builds/[0-9a-f]{64}/(engine|speed-\d+\.json)|blobs/[0-9a-f]{64}|\d+/(lock|mark|group|typical\.json)|"
                          r"\d+/servers/[^/]+/[a-z]+\.json")
SERVER_FILES = re.compile(r"patchmate\.db(-wal|-shm)?|[a-z]*\.?lock|secret|git/.*|blobs/[0-9a-f]{2}/[0-9a-f]{64}")
EXPECTED = re.compile(r"Internal Server Error|error (rate|bar)", re.I)


def stat(pid):
    """The beginning of a process's state, for who looks into it."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1][:20]
    except OSError:
        return "gone"


class Soak:
    def __init__(self, minutes, seed, tc):
        from database import add_test, build_quickly, sql  # these need BUILD
        from server import Server
        from worker import Worker
        self.sql, self.random = sql, random.Random(seed)
        self.minutes = minutes
        self.token = f"soak-{os.getpid()}-{seed}"
        # A sanitizer keeps what was freed for a while; that is no leak of ours.
        own = {"PATCHMATE_SOAK": self.token, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4"}
        self.env = {**os.environ, **own}
        self.events, self.sizes = collections.Counter(), []
        self.spooled, self.problems, self.over = set(), [], threading.Event()
        self.enough = False
        self.server = Server(start=False, env=own, own_books=True)  # a test at fixed nodes ends when its book is spent
        build_quickly(self.server)
        sql(self.server, "INSERT INTO settings (name, value) VALUES ('task_seconds', '60')")
        self.test = add_test(self.server, workload="fixed", batch_pairs=BATCH, pairs_max=10 ** 6, base_options="Hash=1",
                             new_options="Hash=1", tc=tc)
        self.server.start()
        self.workers = [Worker(self.server, "--concurrency", "1", "--verbose", env=self.env) for _ in range(WORKERS)]
        self.began = time.monotonic()

    # ---- what is watched meanwhile -------------------------------------------------------------

    def watch(self):
        """Every quarter of a second: what stands unsent on disk, and the sizes of all."""
        while not self.over.wait(0.25):
            for number, worker in enumerate(self.workers):
                self.spooled |= {path.stem for path in worker.spooled()}
                self.measure(f"worker {number + 1}", worker.process)
            self.measure("server", self.server.process)

    def measure(self, name, process):
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            self.sizes.append((time.monotonic() - self.began, name, int(re.search(r"VmRSS:\s+(\d+)", status).group(1))))
        except (OSError, AttributeError):  # between an end and a start
            pass

    def wrong(self, text):
        self.problems.append(f"{time.monotonic() - self.began:.0f} s: {text}")

    # ---- events ----------------------------------------------------------------------------------

    def pause(self, low, high):
        time.sleep(self.random.uniform(low, high))

    def kill_worker(self, worker):
        began = time.monotonic()
        worker.kill()
        ended = time.monotonic()
        if left := worker.nothing_left():
            states = [(pid, line, stat(pid)) for pid, line in left]
            self.wrong(f"processes outlived their worker, itself gone after {ended - began:.1f} s: {states}")
        self.pause(0, 2)
        worker.start()

    def leave(self, worker, number, wanted, patience):
        worker.signal(number)
        try:
            status = worker.wait(patience)
            if status not in wanted:
                self.wrong(f"a worker ended with status {status} on {signal.Signals(number).name}")
        except Exception:  # subprocess.TimeoutExpired
            self.wrong(f"a worker did not end within {patience} s of {signal.Signals(number).name}")
            worker.kill()
        if left := worker.nothing_left():
            self.wrong(f"processes outlived a worker that left: {left}")

    def end_worker(self, worker):
        self.leave(worker, signal.SIGTERM, (0, 143), 60)
        worker.start()

    def hurry_worker(self, worker):
        worker.signal(signal.SIGINT)
        time.sleep(0.2)
        self.leave(worker, signal.SIGINT, (0, 130), 20)
        worker.start()

    def stop_worker(self, worker):
        worker.signal(signal.SIGSTOP)
        self.pause(0.5, 8)
        worker.signal(signal.SIGCONT)

    def outstay_lease(self, worker):
        """Its lease runs out while it is stopped. Leases are of minutes; so the clock of this one is set."""
        worker.signal(signal.SIGSTOP)
        number = self.workers.index(worker)
        self.sql(self.server, "UPDATE tasks SET lease_until = 1 WHERE state = 'open' AND worker_id = (SELECT id FROM workers "
                              "ORDER BY id LIMIT 1 OFFSET ?)", number)
        self.pause(2, 6)
        worker.signal(signal.SIGCONT)

    def kill_server(self, _):
        self.server.kill()
        self.pause(0, 4)
        self.server.start()

    def end_server(self, _):
        if status := self.server.stop():
            self.wrong(f"the server ended with status {status}")
        self.pause(0, 4)
        self.server.start()

    def stop_server(self, _):
        self.server.process.send_signal(signal.SIGSTOP)
        self.pause(0.5, 8)
        self.server.process.send_signal(signal.SIGCONT)

    def be_content(self, *_):
        """Ctrl-C: no further act; what was done until then is reckoned up."""
        self.enough = True

    def disturb(self):
        acts = [(self.kill_worker, 4), (self.end_worker, 2), (self.hurry_worker, 1), (self.stop_worker, 2),
                (self.outstay_lease, 2), (self.kill_server, 3), (self.end_server, 1), (self.stop_server, 2)]
        end = time.monotonic() + 60 * self.minutes
        while time.monotonic() < end and not self.enough:
            act = self.random.choices([a for a, _ in acts], [weight for _, weight in acts])[0]
            name, began = act.__name__.replace("_", " "), time.monotonic()
            act(self.random.choice(self.workers))
            self.events[name] += 1
            print(f"# {began - self.began:5.0f} s: {name}, {time.monotonic() - began:.1f} s", flush=True)
            self.pause(*QUIET_S)

    def run(self):
        watcher = threading.Thread(target=self.watch, daemon=True)
        watcher.start()
        signal.signal(signal.SIGINT, self.be_content)
        try:
            self.await_batch(1200)  # the first builds; later ones are met by chance
            self.disturb()
            self.settle()
        finally:
            self.over.set()
            watcher.join()

    def await_count(self, text, known, patience):
        """Until `text` counts something else than is known."""
        deadline = time.monotonic() + patience
        while self.count(text) == known and time.monotonic() < deadline:
            time.sleep(0.2)

    def await_batch(self, patience):
        self.await_count("SELECT count(*) FROM batches", self.count("SELECT count(*) FROM batches"), patience)

    def settle(self):
        """All play for a moment more, deliver, and leave in order; then no batch waits for another."""
        self.await_batch(600)
        for worker in self.workers:
            self.leave(worker, signal.SIGINT, (0,), 60)
        self.await_count("SELECT exists(SELECT 1 FROM batches WHERE waits)", 1, 60)

    def count(self, text):
        return self.sql(self.server, text)[0][0]

    def close(self, keep=False):
        for worker in self.workers:
            if not keep:
                worker.close()
        if not keep:
            self.server.close()

    # ---- the reckoning: one test each ---------------------------------------------------------------

    def nothing_went_wrong_on_the_way(self):
        assert not self.problems, "\n".join(self.problems)
        assert self.count("SELECT count(*) FROM batches WHERE counted") >= 3, "hardly anything was played"

    def no_process_is_left(self):
        left = [line for worker in self.workers for line in worker.nothing_left()]
        ours = {os.getpid(), self.server.process.pid}
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                found = self.token.encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if found and pid not in ours:
                left.append(pid)
        assert not left, left

    def no_batch_waits_on_disk(self):
        left = [str(path) for worker in self.workers for path in worker.spooled()]
        assert not left, left

    def no_file_is_left_over(self):
        left = []
        for top, known in [(self.server.data, SERVER_FILES), *[(worker.cache, WORKER_FILES) for worker in self.workers]]:
            for path in sorted(top.rglob("*")):
                fine = path.is_dir() and (path.parent.name != "work" and (path.parent.name != "builds" or any(path.iterdir())))
                if not fine and not known.fullmatch(str(path.relative_to(top))):
                    left.append(str(path))
        assert not left, "\n".join(left)

    def every_batch_that_stood_on_disk_is_stored(self):
        stored = {f"{task:010}-{seq:06}" for task, seq in self.sql(self.server, "SELECT task_id, seq FROM batches")}
        assert self.spooled <= stored, self.spooled - stored

    def batches_of_a_task_have_no_gap(self):
        tasks = collections.defaultdict(list)
        for task, seq in self.sql(self.server, "SELECT task_id, seq FROM batches ORDER BY task_id, seq"):
            tasks[task].append(seq)
        bad = {task: seqs for task, seqs in tasks.items() if seqs != list(range(len(seqs)))}
        assert not bad, bad

    def counted_pairs(self):
        rows = self.sql(self.server, "SELECT t.first_pair + b.seq * ? FROM batches b JOIN tasks t ON t.id = b.task_id "
                                     "WHERE b.counted", BATCH)
        return [pair + i for pair, in rows for i in range(BATCH)]

    def no_pair_counts_twice(self):
        twice = [pair for pair, times in collections.Counter(self.counted_pairs()).items() if times > 1]
        assert not twice, twice

    def no_pair_is_lost(self):
        """Each that was ever dealt is counted, or given back, or was begun by a worker that was killed before it ended."""
        known = set(self.counted_pairs())
        for first, size in self.sql(self.server, "SELECT first_pair, pair_count FROM returned_pairs"):
            known |= set(range(first, first + size))
        dealt, begun = set(), set()
        for first, size, stored, started in self.sql(self.server, "SELECT first_pair, pair_count, next_seq, started_pairs FROM tasks"):
            dealt |= set(range(first, first + size))
            begun |= set(range(first + stored * BATCH, first + min(size, -(-started // BATCH) * BATCH)))
        self.unfinished = len(begun - known)
        assert not dealt - known - begun, sorted(dealt - known - begun)[:50]

    def no_task_stays_open(self):
        assert self.count("SELECT count(*) FROM tasks WHERE state = 'open'") == 0
        assert self.count("SELECT count(*) FROM batches WHERE waits") == 0

    def memory_stays_flat(self):
        """The first third against the last, the largest of each program; what a start needs is in both."""
        whole, room = self.sizes[-1][0], 16384 if "SANITIZED" in os.environ else 4096  # KiB; sanitizers keep books of their own
        text = []
        for name in sorted({name for _, name, _ in self.sizes}):
            first = max((kib for at, who, kib in self.sizes if who == name and at < whole / 3), default=0)
            last = max((kib for at, who, kib in self.sizes if who == name and at > whole * 2 / 3), default=0)
            text.append(f"{name} {first} and {last} KiB")
            assert last <= first * 1.25 + room, f"{name}: {first} KiB in the first third, {last} KiB in the last"
        self.memory = ", ".join(text)

    def logs_tell_of_no_trouble(self):
        logs = {"server": self.server.log(), **{f"worker {i + 1}": w.log() for i, w in enumerate(self.workers)}}
        lines = [f"{name}: {line}" for name, log in logs.items() for line in log.splitlines()
                 if TROUBLE.search(line) and not EXPECTED.search(line)]
        assert not lines, "\n".join(lines[:30])

    def a_replay_agrees(self):
        self.server.stop()
        said = self.server.command("check", self.server.data)
        assert "database: sound" in said, said

    def report(self):
        counted, late = (self.count(f"SELECT count(*) FROM batches WHERE {what}") for what in ("counted", "NOT counted"))
        states = self.sql(self.server, "SELECT state, count(*) FROM tasks GROUP BY 1 ORDER BY 1")
        losses, crashes = self.sql(self.server, "SELECT coalesce(sum(time_losses), 0), coalesce(sum(crashes), 0) FROM batches")[0]
        events = ", ".join(f"{name} {times}" for name, times in sorted(self.events.items()))
        return [f"{time.monotonic() - self.began:.0f} s; {sum(self.events.values())} events: {events}",
                f"{counted} batches counted, {late} stored and not counted, {2 * BATCH * counted} games; "
                f"{losses} time losses (games of stopped workers), {crashes} crashes",
                f"tasks: {', '.join(f'{state} {times}' for state, times in states)}; "
                f"{len(self.spooled)} batches seen on disk; {self.unfinished} pairs begun by the killed and not ended",
                f"largest in the first and the last third: {self.memory}"]

    def tests(self):
        return [self.nothing_went_wrong_on_the_way, self.no_process_is_left, self.no_batch_waits_on_disk, self.no_file_is_left_over,
                self.every_batch_that_stood_on_disk_is_stored, self.batches_of_a_task_have_no_gap, self.no_pair_counts_twice,
                self.no_pair_is_lost, self.no_task_stays_open, self.memory_stays_flat, self.logs_tell_of_no_trouble]


def soak(minutes, seed, tc, keep=False):
    """Prints TAP and the report; the exit status."""
    print(f"# seed {seed}", flush=True)
    run = Soak(minutes, seed, tc)
    bad, unreported = 0, []
    run.unfinished, run.memory = "?", "?"
    try:
        run.run()
        steps = run.tests()
        for number, test in enumerate([*steps, run.a_replay_agrees], 1):
            if number > len(steps):
                unreported = run.report()
            try:
                test()
                print(f"ok {number} - {test.__name__.replace('_', ' ')}", flush=True)
            except (AssertionError, RuntimeError) as error:
                bad += 1
                print(f"not ok {number} - {test.__name__.replace('_', ' ')}\n# " + "\n# ".join(str(error).splitlines()), flush=True)
        print("\n".join(f"# {line}" for line in unreported))
        print(f"1..{len(steps) + 1}")
        if bad:
            print("".join(f"# {line}\n" for worker in run.workers for line in worker.log().splitlines()[-15:]), end="")
    finally:
        run.close(keep and bad)
        if keep and bad:
            print("# kept:", run.server.folder, *[worker.folder for worker in run.workers])
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"))
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000)
    parser.add_argument("--tc", default="0.2+0.002")
    parser.add_argument("--keep", action="store_true", help="keep the folders of a run that failed")
    arguments = parser.parse_args()
    os.environ["BUILD"] = arguments.build
    sanitized = pathlib.Path(arguments.build, "sanitize")
    env = {**os.environ, "BUILD": str(sanitized if (sanitized / "server").exists() else arguments.build), "PATCHMATE_SEED": str(arguments.seed),
           "PATCHMATE_SEQUENCE_SECONDS": str(60 * arguments.minutes)}
    sequences = subprocess.Popen([sys.executable, pathlib.Path(__file__).parent / "integration/server/test_sequences.py"], env=env,
                                 stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        bad = soak(arguments.minutes, arguments.seed, arguments.tc, arguments.keep)
        print("# random requests beside it:\n" + sequences.communicate()[0], end="")
    finally:
        sequences.kill()
    return bad or sequences.returncode


if __name__ == "__main__":
    sys.exit(main())
