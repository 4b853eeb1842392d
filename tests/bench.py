#!/usr/bin/python3
"""Measures what the project promises of speed and prints each figure beside its limit.

Everything runs alone and one after the other on this machine; what is noisy is the median of several runs. The server's
figures come with the disk's own: how long a small write and fsync take in the same folder, because every durable reply waits
for at least one.

usage: tests/bench.py [--build DIR] [PART…]     parts: engine, statistics, match, server
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kit_py"))
BATCH_PAIRS, RUNS, SECONDS = 16, 3, 2
PERFT6 = 119060324


def row(what, figure, unit, limit="", fine=True):
    """`limit` as people say it; the mark is for the eye that runs down the column."""
    print(f"  {what:<58} {figure:>12} {unit:<12} {limit:<24} {'' if fine else '  <-- MISSED'}", flush=True)
    return fine


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"


def output(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


def median_of(measure, runs):
    return statistics.median(measure() for _ in range(runs))


# ---- engine, statistics, match ------------------------------------------------------------------------------------------------


def engine(build):
    def perft():
        start = time.monotonic()
        text = output(build / "engine", "perft", "6")
        seconds = time.monotonic() - start
        assert str(PERFT6) in text.replace(",", ""), text
        return PERFT6 / seconds

    def search():
        return float(re.search(r"Nodes/second\s*:\s*(\d+)", output(build / "engine", "bench")).group(1))

    rate, speed = median_of(perft, 5), median_of(search, 5)
    fine = row("perft 6 from the start, leaf nodes (program start included)", number(rate / 1e6), "M/s", "at least 100", rate >= 1e8)
    row("search, `engine bench`", number(speed / 1e3), "k nodes/s")
    return fine


def statistics_part(build):
    pattern = re.compile(r"^(LLR .*?>)\s.*?([\d.]+) us", re.M)
    runs = [pattern.findall(output(build / "tests" / "bench_sprt")) for _ in range(RUNS)]
    fine = True
    for same in zip(*runs):
        name, each = " ".join(same[0][0].split()), statistics.median(float(us) for _, us in same)
        fine &= row(f"{name}, one pentanomial", f"{each:.3f}", "us", "under 1", each < 1)
        row("   so many a second", number(1 / each), "M LLR/s")
    return fine


def match(build):
    """The overhead is what a ply costs between engines that answer at once, less the bare exchange that no runner can avoid."""
    runs = [output(build / "tests" / "bench_match", build / "tests" / "toy", 200) for _ in range(RUNS)]

    def median(pattern):
        return statistics.median(float(re.search(pattern, text).group(1)) for text in runs)

    ply, own = median(r"([\d.]+) us a ply"), median(r"([\d.]+) us of it")
    bare, games = median(r"([\d.]+) us a bare"), median(r"([\d.]+) games/s")
    row("match, a ply between two instant engines", number(ply), "us")
    row("   of it the runner's own CPU time", number(own), "us")
    row("   bare message there and back over pipes on one CPU", number(bare), "us")
    row("   overhead: the ply less the bare exchange", number(ply - bare), "us")
    row("   games of at most 120 plies, one at a time", number(games), "games/s")
    return row("   a ply in bare exchanges", f"{ply / bare:.2f}", "times", "at most 3", ply <= 3 * bare)


# ---- server -------------------------------------------------------------------------------------------------------------------


def fsync_ms(folder, bytes_written, count=200):
    """Median time of appending to a file and making it durable."""
    times = []
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(count):
            start = time.monotonic()
            file.write(os.urandom(bytes_written))
            os.fdatasync(file.fileno())
            times.append(1e3 * (time.monotonic() - start))
    return statistics.median(times)


class Load:
    """A server with one test that never ends and a worker a connection, each on a task of its own."""

    TASK_PAIRS = 1 << 22

    def __init__(self, connections):
        import database
        from server import Server
        self.sql = database.sql
        with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
            book = database.write_plain_book(pathlib.Path(folder) / "book.epd")
            self.server = Server(init_options=["--book", str(book)], start=False)
        self.test = database.add_test(self.server, kind="fixed", batch_pairs=BATCH_PAIRS, pairs_max=1 << 40)
        self.server.start()
        self.tokens = []
        for number in range(connections):
            worker = self.server.worker(key=f"load-{number:04}-" + "k" * 20)
            self.tokens.append((worker.token, worker.worker))
            worker.close()
        self.tasks = 0

    def new_tasks(self, count):
        """Lines for the load generator: each worker gets a task whose batches nobody can use up."""
        lines = []
        for token, worker in self.tokens[:count]:
            first, self.tasks = self.tasks * self.TASK_PAIRS, self.tasks + 1
            (task,), = self.sql(self.server, "INSERT INTO tasks (test_id, worker_id, first_pair, pair_count, cores, phase, "
                                             "lease_until, created) VALUES (?, ?, ?, ?, 1, 'play', 1e11, 1) RETURNING id",
                                self.test, worker, first, self.TASK_PAIRS)
            lines.append(f"{token} {task} 0 {BATCH_PAIRS}\n")
        self.sql(self.server, "UPDATE tests SET next_pair = ?", self.tasks * self.TASK_PAIRS)
        return "".join(lines)

    def run(self, build, connections, what):
        done = subprocess.run([str(build / "tests" / "load_server"), str(self.server.port), str(SECONDS), what],
                              input=self.new_tasks(connections), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    def counted(self):
        return self.sql(self.server, "SELECT count(*), sum(counted) FROM batches")[0]


def show_load(load, build, connections, what, limit):
    runs = sorted((load.run(build, connections, what) for _ in range(RUNS)), key=lambda run: run["batches_per_s"])
    middle = runs[len(runs) // 2]
    rate = middle["batches_per_s"]
    name = "whole batches of 32 games" if what == "games" else "counts only"
    fine = row(f"server, {name}, {connections} connections", number(rate), "batches/s", f"at least {limit:,}", rate >= limit)
    row("   time of a batch: median, 99th percentile", f"{middle['p50_ms']:.2f}, {middle['p99_ms']:.2f}", "ms")
    row("   bytes a batch: sent, received", f"{middle['bytes_sent']:.0f}, {middle['bytes_received']:.0f}", "bytes")
    return fine, runs


# Limits: what one machine must carry with room to spare. A thousand workers with 8 cores at 10+0.1 post 15 batches a second.
LIMITS = (("games", 8, 100), ("games", 64, 200), ("counts", 8, 500), ("counts", 64, 2000))


def server(build):
    os.environ["BUILD"] = str(build)
    load, fine, posted = Load(64), True, 0
    try:
        folder = load.server.data
        row("disk, 4 KiB and fdatasync in the server's folder", f"{fsync_ms(folder, 4096):.3f}", "ms")
        row("disk, 20 KiB and fdatasync", f"{fsync_ms(folder, 20480):.3f}", "ms")
        for what, connections, limit in LIMITS:
            good, runs = show_load(load, build, connections, what, limit)
            fine &= good
            posted += sum(run["batches"] for run in runs)
        stored, counted = load.counted()
        assert stored == counted and posted <= stored <= posted + len(LIMITS) * RUNS * 64, (posted, stored, counted)
        load.server.stop()
        load.server.command("check", folder)
        row("   all of them checked afterwards by a replay", number(stored), "batches")
    finally:
        load.server.close()
    return fine


PARTS = {"engine": engine, "statistics": statistics_part, "match": match, "server": server}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.build).resolve()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    print(f"{cpu}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} before\n", flush=True)
    fine = [PARTS[name](build) for name in arguments.parts or PARTS]
    print("\nevery figure is within its limit" if all(fine) else "\nsome figures miss their limits")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
