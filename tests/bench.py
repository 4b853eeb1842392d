#!/usr/bin/python3
"""Measures what the project promises of speed and strength and prints each figure beside its limit.

Everything runs alone and one after the other on this machine; what is noisy is the median of several runs. The server's
figures come with the disk's own: how long a small write and fsync take in the same folder, because every durable reply waits
for at least one.

usage: tests/bench.py [--build DIR] [--games N] [--seed N] [PART…]     parts: engine, statistics, match, server, recount, visitors; by name
alone: judgement, strength, clock, thieves, audit, window, books, order, worth, verdicts, attacks

--games N: how many games each match of our engine has. The part match plays 100, in two minutes, where none are asked for;
strength plays 400, and five times as many of its shortest, which takes hours.
"""
import argparse
import json
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
import bench_attacks  # noqa: E402
import bench_books  # noqa: E402
import bench_conditions  # noqa: E402
import bench_engine  # noqa: E402
import bench_judgement  # noqa: E402
import bench_recount  # noqa: E402
import bench_statistics  # noqa: E402
import bench_visitors  # noqa: E402
from figures import STOCKFISH, median_of, number, output, row  # noqa: E402

BATCH_PAIRS, RUNS, SECONDS = 16, 3, 2


# ---- statistics, match ------------------------------------------------------------------------------------------------


def statistics_part(build, _games):
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


def match_clock(build, games):
    """Our own engine on short clocks, one game a CPU."""
    slots, fine = len(os.sched_getaffinity(0)), True
    for base, increment in ((1000, 10), (200, 2)):
        run = play(build, engine=build / "engine", slots=slots, pairs=max(1, games // 2), base=base, inc=increment, plies=1000)
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


def match(build, games):
    fine = match_speed(build)
    if shutil.which("fastchess"):
        for slots in (1, 2):
            rate = median_of(lambda count=slots: fastchess_rate(build, count) or 0, RUNS)
            row(f"   fastchess with affinity, the same games, {slots} at a time", number(rate), "games/s")
    fine &= match_faults(build)
    return fine & match_clock(build, games or 100)


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
            book = database.write_plain_book(pathlib.Path(folder) / "book.epd", BATCH_PAIRS)  # each batch has these openings
            self.server = Server(init_options=["--book", str(book)], start=False)
        self.test = database.add_test(self.server, tc="10+0.1", workload="fixed", batch_pairs=BATCH_PAIRS, pairs_max=1 << 40)
        self.server.start()
        self.model = self.server.folder / "model"
        self.model.write_text(self.make_model())
        self.tokens = []
        for index in range(connections):
            worker = self.server.worker(key=f"load-{index:04}-" + "k" * 20)
            self.tokens.append((worker.token, worker.worker))
            worker.close()
        self.tasks = 0

    def make_model(self):
        """The counts of a batch and its games, of some 150 plies and 10 seconds a side."""
        from played import played
        from protocol import batch, claim, clock_of
        task = claim(self.server.worker()).json
        self.sql(self.server, "DELETE FROM idempotency")
        self.sql(self.server, "DELETE FROM tasks")  # it is not played; new_tasks() deals from the first pair
        outcomes = "1322213223122230"
        games = played(task, 0, outcomes, plies=140, think_ms=150)
        for game in games:  # the load generator lets the first clocks differ: see load_server.c
            game["clock_ms"][2:] = [ms - 4000 for ms in game["clock_ms"][2:]]
        moves = [sum((i % 2 == 0) == (game["new_is"] == "white") for game in games for i in range(len(game["clock_ms"]))), 0]
        moves[1] = sum(len(game["clock_ms"]) for game in games) - moves[0]
        sides = [game["clock_ms"][i::2] for game in games for i in (0, 1)]
        thought = sum(10000 + 100 * len(side) - side[-1] for side in sides)
        said = {side: {"moves": count, "illegal_pv": 0, "other_move": 0, "false_mate": 0, "no_score": 0}
                for side, count in zip(("new", "base"), moves, strict=True)}
        counts = batch(0, outcomes, None, tc=clock_of(task), thought=thought, said=said)
        del counts["seq"], counts["games_sha256"]
        text = "".join(json.dumps(game, separators=(",", ":")) + "\n" for game in games)
        row("a batch: games, plies of a game, bytes", f"{len(games)}, {sum(moves) // len(games)}, {len(text)}", "")
        return json.dumps(counts)[1:-1] + "\n" + text

    def new_tasks(self, count):
        """Lines for the load generator: each worker gets a task with more batches than can be used up."""
        lines = []
        for token, worker in self.tokens[:count]:
            first, self.tasks = self.tasks * self.TASK_PAIRS, self.tasks + 1
            (task,), = self.sql(self.server, "INSERT INTO tasks (test_id, worker_id, first_pair, pair_count, side, against, cores, "
                                             "phase, lease_until, created, level) "
                                             "VALUES (?, ?, ?, ?, 'new', 'base', 1, 'play', 1e11, 1, 2) RETURNING id",
                                self.test, worker, first, self.TASK_PAIRS)
            lines.append(f"{token} {task} 0 {first}\n")
        self.sql(self.server, "UPDATE tests SET next_pair = ?", self.tasks * self.TASK_PAIRS)
        return "".join(lines)

    def run(self, build, connections):
        import signing
        done = subprocess.run([str(build / "tests" / "load_server"), str(self.server.port), str(SECONDS), str(self.model),
                               self.sql(self.server, "SELECT name FROM installation")[0][0], str(self.test), signing.SECRET.hex()],
                              input=self.new_tasks(connections), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.end_tasks()
        return json.loads(done.stdout)

    def end_tasks(self):
        """The tasks of a run end, so that no batch of the next one waits for theirs, and all that arrived counts."""
        from server import wait_until
        self.sql(self.server, "UPDATE tasks SET lease_until = 0 WHERE state = 'open'")
        open_or_waiting = "SELECT 1 FROM tasks WHERE state = 'open' UNION ALL SELECT 1 FROM batches WHERE waits = 1 LIMIT 1"
        wait_until(lambda: not self.sql(self.server, open_or_waiting), seconds=60)

    def counted(self):
        return self.sql(self.server, "SELECT count(*), sum(counted) FROM batches")[0]


def show_load(load, build, connections, limit):
    runs = sorted((load.run(build, connections) for _ in range(RUNS)), key=lambda run: run["batches_per_s"])
    middle = runs[len(runs) // 2]
    rate = middle["batches_per_s"]
    fine = row(f"server, batches of 32 games, each replayed, {connections} connections", number(rate), "batches/s", f"at least {limit:,}", rate >= limit)
    row("   time of a batch: median, 99th percentile", f"{middle['p50_ms']:.2f}, {middle['p99_ms']:.2f}", "ms")
    row("   bytes a batch: sent, received", f"{middle['bytes_sent']:.0f}, {middle['bytes_received']:.0f}", "bytes")
    return fine, runs


# Limits: what one machine must carry with room to spare. A thousand workers with 8 cores at 10+0.1 post 15 batches a second.
LIMITS = ((8, 100), (64, 250))


def server(build, _games):
    os.environ["BUILD"] = str(build)
    load, fine, posted = Load(64), True, 0
    try:
        folder = load.server.data
        row("disk, 4 KiB and fdatasync in the server's folder", f"{fsync_ms(folder, 4096):.3f}", "ms")
        row("disk, 20 KiB and fdatasync", f"{fsync_ms(folder, 20480):.3f}", "ms")
        for connections, limit in LIMITS:
            good, runs = show_load(load, build, connections, limit)
            fine &= good
            posted += sum(run["batches"] + run["late"] for run in runs)
        stored, counted = load.counted()
        assert posted == stored == counted, (posted, stored, counted)
        load.server.stop()
        load.server.command("check", folder)
        row("   all of them checked afterwards by a replay", number(stored), "batches")
    finally:
        load.server.close()
    return fine


PARTS = {"engine": bench_engine.engine, "statistics": statistics_part, "match": match, "server": server,
         "recount": bench_recount.recount, "visitors": bench_visitors.visitors}
BY_NAME = {"strength": bench_engine.strength, "judgement": bench_judgement.judgement}
SEEDED = {"clock": bench_conditions.clock, "thieves": bench_conditions.thieves, "audit": bench_conditions.audit,
          "window": bench_books.window, "books": bench_books.books,
          "order": bench_statistics.order, "worth": bench_statistics.worth, "verdicts": bench_statistics.verdicts,
          "attacks": bench_attacks.attacks}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--games", type=int)
    parser.add_argument("--seed", type=int, default=1)
    names = [*PARTS, *BY_NAME, *SEEDED]
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*names, []], help=", ".join(names))
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.build).resolve()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    print(f"{cpu}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} before\n", flush=True)
    fine = [SEEDED[name](build, arguments.games, arguments.seed) if name in SEEDED else {**PARTS, **BY_NAME}[name](build, arguments.games)
            for name in arguments.parts or PARTS]
    print("\nevery figure is within its limit" if all(fine) else "\nsome figures miss their limits")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
