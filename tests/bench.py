#!/usr/bin/python3
"""Measures what the project promises of speed and prints each figure beside its limit.

Everything runs alone and one after the other on this machine; what is noisy is the median of several runs. The server's
figures come with the disk's own: how long a small write and fsync take in the same folder, because every durable reply waits
for at least one.

usage: tests/bench.py [--build DIR] [--games N] [PART…]     parts: engine, statistics, match, server

--games N: how many games our engine plays at each of its short clocks; 100 take two minutes, 2,000 most of an hour.
"""
import argparse
import json
import lzma
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kit_py"))
BATCH_PAIRS, RUNS, SECONDS = 16, 3, 2
PERFT6 = 119060324
STOCKFISH = pathlib.Path("/usr/games/stockfish")
OPTIONS = argparse.Namespace(games=100)


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


def perft_rate(*words, text=None):
    """Leaf nodes a second of `perft 6` from the start, the program's own start taken off."""
    def seconds(depth):
        start = time.monotonic()
        done = subprocess.run([str(word).format(depth=depth) for word in words], capture_output=True, text=True, check=True,
                              input=text.format(depth=depth) if text else "")
        assert depth < 6 or str(PERFT6) in done.stdout.replace(",", ""), done.stdout
        return time.monotonic() - start
    return PERFT6 / (seconds(6) - seconds(1))


def perft(build):
    """Ours and stockfish's by turns."""
    ours, theirs = [], []
    for _ in range(5):
        ours.append(perft_rate(build / "engine", "perft", "{depth}"))
        if STOCKFISH.exists():
            theirs.append(perft_rate(STOCKFISH, text="go perft {depth}\nquit\n"))
    rate, other = statistics.median(ours), statistics.median(theirs or [0])
    fine = row("perft 6 from the start, leaf nodes", number(rate / 1e6), "M/s", "at least stockfish's", rate >= other)
    if theirs:
        row("   stockfish's in the same run", number(other / 1e6), "M/s")
    else:
        row("   beside stockfish: not installed, skipped", "-", "")
    return fine


def net_for_speed(build, folder):
    """What the net's speed is measured with: the default net, else the published one of the shared data, else None."""
    if subprocess.run([build / "engine", "net", "<default>"], capture_output=True).returncode == 0:
        return "the default net", "<default>"
    packed = pathlib.Path(os.environ.get("PATCHMATE_SHARED", ROOT / ".." / "shared"), "data/nets/nn-62ef826d1a6d.nnue.xz")
    if not packed.exists():
        return None
    path = pathlib.Path(folder) / "published.nnue"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return packed.stem, path


def search(build):
    """With the classical evaluation and with a net by turns, over the same positions."""
    def speed(net):
        return float(re.search(r"Nodes/second\s*:\s*(\d+)", output(build / "engine", "bench", "--net", net)).group(1))
    with tempfile.TemporaryDirectory(prefix="patchmate-bench-") as folder:
        net = net_for_speed(build, folder)
        runs = [(speed("none"), speed(net[1]) if net else 0) for _ in range(5)]
    classical, netted = (statistics.median(column) for column in zip(*runs))
    row("search, `engine bench`, classical evaluation", number(classical / 1e3), "k nodes/s")
    if not net:
        row("   with a net: none is here, skipped", "-", "")
        return True
    fine = row(f"   with {net[0]}", number(netted / 1e3), "k nodes/s", "at least 1,300", netted >= 1.3e6)
    ratio = statistics.median(b / a for a, b in runs)
    return fine & row("   to the classical evaluation's", f"{ratio:.2f}", "times", "at least 0.8", ratio >= 0.8)


def engine(build):
    fine = perft(build)
    return fine & search(build)


def statistics_part(build):
    pattern = re.compile(r"^(LLR .*?>)\s.*?([\d.]+) us", re.M)
    runs = [pattern.findall(output(build / "tests" / "bench_sprt")) for _ in range(RUNS)]
    fine = True
    for same in zip(*runs):
        name, each = " ".join(same[0][0].split()), statistics.median(float(us) for _, us in same)
        fine &= row(f"{name}, one pentanomial", f"{each:.3f}", "us", "under 1", each < 1)
        row("   so many a second", number(1 / each), "M LLR/s")
    return fine


def play(build, **arguments):
    """One match as tests/tools/bench_match.c says."""
    return json.loads(output(build / "tests" / "bench_match", *(f"{key}={value}" for key, value in arguments.items())))


def median_play(build, **arguments):
    """The run in the middle by games a second."""
    runs = sorted((play(build, **arguments) for _ in range(RUNS)), key=lambda run: run["games_per_s"])
    return runs[len(runs) // 2]


INSTANT = {"base": 10000, "inc": 100, "pairs": 200}
# How an engine may let its flag fall: silent, stopped, busy, or talking without end.
OVERSTEPPERS = ("hang@go", "sigstop@go", "burn@go", "chatter@go", "flood@go", "storm@go", "errflood@go", "deaf@go", "nonl")


def match_speed(build):
    """Between engines that answer at once, beside the bare exchange that no runner can avoid."""
    bare, fine = median_of(lambda: json.loads(output(build / "tests" / "bench_match", "ping"))["us"], RUNS), True
    row("match, bare message there and back over pipes on one CPU", number(bare), "us")
    for slots, limit in ((1, 600), (2, 1100)):
        run = median_play(build, engine=build / "tests" / "toy", slots=slots, **INSTANT)
        fine &= row(f"match, instant engines, {slots} at a time", number(run["games_per_s"]), "games/s", f"at least {limit:,}",
                    run["games_per_s"] >= limit)
        row("   a ply of a slot", number(run["us_per_ply"]), "us")
        fine &= row("   of it the runner's own CPU time", number(run["own_us_per_ply"]), "us", "at most 5", run["own_us_per_ply"] <= 5)
        if slots == 1:
            fine &= row("   a ply in bare exchanges", f"{run['us_per_ply'] / bare:.2f}", "times", "at most 3",
                        run["us_per_ply"] <= 3 * bare)
    if not STOCKFISH.exists():
        row("   with stockfish at depth 5: not installed, skipped", "-", "")
        return fine
    own = median_play(build, engine=STOCKFISH, depth=5, pairs=24)["own_us_per_ply"]
    return fine & row("   with stockfish at depth 5, its own CPU time a ply", number(own), "us", "at most 25", own <= 25)


def match_faults(build):
    """How late a loss on time is called, and whether many games at a time make it unjust."""
    late = {mode: play(build, engine=build / "tests" / "toy", mode=mode, move=100, pairs=5) for mode in OVERSTEPPERS}
    worst = max(late, key=lambda mode: late[mode]["latest_ms"])
    all_lost = all(run["time_losses"] == run["games"] for run in late.values())
    fine = row(f"match, latest call of a fallen flag of {10 * len(late)} ({worst})", number(late[worst]["latest_ms"]), "ms",
               "under 200", all_lost and late[worst]["latest_ms"] < 200)
    many = play(build, engine=build / "tests" / "toy", mode="sleep", sleep=100, slots=250, pairs=250, plies=80, **{"base": 10000, "inc": 100})
    return fine & row(f"match, 250 at a time of engines that sleep: {many['games']} games, lost on time", many["time_losses"], "games",
                      "none", many["time_losses"] + many["faults"] == 0)


def match_clock(build):
    """Our own engine on short clocks, one game a CPU."""
    slots, fine = len(os.sched_getaffinity(0)), True
    for base, increment in ((1000, 10), (200, 2)):
        run = play(build, engine=build / "engine", slots=slots, pairs=max(1, OPTIONS.games // 2), base=base, inc=increment, plies=1000)
        lost, name = run["time_losses"], f"{base / 1000:g}+{increment / 1000:g}"
        strict = base == 1000
        good = row(f"match, anvil at {name}, {slots} at a time: {run['games']} games, lost on time", lost, "games",
                   "none" if strict else "", not strict or lost == 0)
        row("   share of games; while the machine was busy elsewhere", f"{lost / run['games']:.2%}, {run['overloaded']}", "")
        fine &= good
    return fine


def fastchess_rate(build, slots):
    """Games a second from the first "Started" to the last "Finished", or None where it says neither."""
    with tempfile.TemporaryDirectory(prefix="patchmate-bench-") as folder:
        book = pathlib.Path(folder) / "book.epd"
        output(build / "tests" / "bench_match", f"book={book}")
        words = ["fastchess", *(word for seed in (1, 2) for word in ("-engine", f"cmd={build / 'tests' / 'toy'}", f"name={seed}",
                                                                     f"option.Seed={seed}")),
                 "-each", "tc=10+0.1", "-rounds", "200", "-games", "2", "-repeat", "-maxmoves", "60", "-concurrency", str(slots),
                 "-force-concurrency", "-use-affinity", "-openings", f"file={book}", "format=epd", "order=sequential",
                 "-ratinginterval", "0", "-autosaveinterval", "0"]
        first = last = None
        with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                first = time.monotonic() if first is None and line.startswith("Started game") else first
                last = time.monotonic() if line.startswith("Finished game") else last
        return 400 / (last - first) if first and last else None


def match(build):
    fine = match_speed(build)
    if shutil.which("fastchess"):
        for slots in (1, 2):
            rate = median_of(lambda count=slots: fastchess_rate(build, count) or 0, RUNS)
            row(f"   fastchess with affinity, the same games, {slots} at a time", number(rate), "games/s")
    fine &= match_faults(build)
    return fine & match_clock(build)


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
    parser.add_argument("--games", type=int, default=OPTIONS.games)
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args(namespace=OPTIONS)
    build = pathlib.Path(arguments.build).resolve()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    print(f"{cpu}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} before\n", flush=True)
    fine = [PARTS[name](build) for name in arguments.parts or PARTS]
    print("\nevery figure is within its limit" if all(fine) else "\nsome figures miss their limits")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
