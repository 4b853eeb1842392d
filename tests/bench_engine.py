"""What `make bench` measures of the engine. `engine`: perft beside stockfish's, the search with a net beside the classical
evaluation, threads, forced mates. `strength`: matches, which take hours."""

import json
import lzma
import math
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time
import zipfile

from figures import STOCKFISH, number, output, row
from uci import Engine

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("PATCHMATE_SHARED", ROOT / ".." / "shared"))
CPUS = len(os.sched_getaffinity(0))
PERFT6 = 119060324


# ---- speed --------------------------------------------------------------------------------------------------------------------


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


def has_default_net(build):
    return subprocess.run([build / "engine", "net", "<default>"], capture_output=True).returncode == 0


def net_for_speed(build, folder):
    """What the net's speed is measured with: the default net, else the published one of the shared data, else None."""
    if has_default_net(build):
        return "the default net", "<default>"
    packed = SHARED / "data/nets/nn-62ef826d1a6d.nnue.xz"
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


# Middlegames of games that Anvil played with itself.
POSITIONS = (
    "r2q1rk1/p1p2pbp/1np3p1/8/P2P2b1/2N1P1P1/1P2N3/R1BQ1RK1 w - - 0 14",
    "3rr1k1/pbqn1pp1/5b1p/2P5/2PpN3/3B1N2/P1Q2PPP/3R1RK1 w - - 1 18",
    "5rk1/1b3ppp/nN2p3/3p4/1b1P4/1P4P1/P3P1BP/3R2K1 w - - 1 21",
    "1r2r3/p2k4/2p1pp1p/2p4q/2Pp1P2/1P4PP/P5Q1/4RRK1 w - - 0 24",
    "r2q1rk1/1bpn1pb1/p3p1p1/3p3p/3P4/2PBPPBP/1P1N2P1/R2QK2R w KQ - 2 16",
    "1r4k1/p4p2/1pB2p2/2b1p3/6P1/7N/P1P1N2P/3R3K w - - 2 27",
)


def thinking_rate(build, fen, threads):
    """Nodes a second of one second of thought."""
    with Engine(build / "engine") as one:
        one.ask("setoption name Hash value 64", f"setoption name Threads value {threads}", f"position fen {fen}")
        one.send("go movetime 1000")
        return int([found for line in one.until("bestmove") if (found := re.search(r" nps (\d+)", line))][-1].group(1))


def threads(build):
    """One thread and two by turns, over the same positions."""
    if CPUS < 2:
        row("search with two threads: one CPU here, skipped", "-", "")
        return True
    runs = [(thinking_rate(build, fen, 1), thinking_rate(build, fen, 2)) for _ in range(3) for fen in POSITIONS]
    ratio = statistics.median(two / one for one, two in runs)
    row("search, a second from middlegames, one thread", number(statistics.median(one for one, _ in runs) / 1e3), "k nodes/s")
    return row("   two threads' nodes to one's", f"{ratio:.2f}", "times", "at least 1.7", ratio >= 1.7)


def finds_mate(build, fen, moves):
    with Engine(build / "engine") as one:
        one.send(f"position fen {fen}", f"go mate {moves} movetime 20000")
        told = [int(found.group(1)) for line in one.until("bestmove") if (found := re.search(r" score mate (-?\d+) ", line))]
        return bool(told) and 0 < told[-1] <= moves


def mates(build):
    """tests/data/mates.epd, each found at its distance or sooner."""
    lines, fine = [line for line in (ROOT / "tests/data/mates.epd").read_text().splitlines() if line[:1] not in ("", "#")], True
    for moves in range(1, 6):
        fens = [line.split(" dm ")[0] + " 0 1" for line in lines if line.endswith(f" dm {moves};")]
        found = sum(finds_mate(build, fen, moves) for fen in fens)
        fine &= row(f"`go mate {moves}` finds", f"{found} of {len(fens)}", "mates", "all", found == len(fens) > 0)
    return fine


def engine(build, _games):
    return all([perft(build), search(build), threads(build), mates(build)])


# ---- strength -----------------------------------------------------------------------------------------------------------------


# Debian's engines without a book of their own, as quick to move as ours: name, options, goal in per cent.
FOES = (("toga2", ("option.OwnBook=false",), 85), ("ethereal-chess", ("option.MoveOverhead=10",), 50))


class Matches:
    """Matches of the engine as it stands over the positions of one book, as many games at a time as there are CPUs."""

    def __init__(self, build, folder):
        self.build, self.folder = build, pathlib.Path(folder)
        with zipfile.ZipFile(SHARED / "data/books/8moves_v3.pgn.zip") as archive:
            self.book = archive.extract("8moves_v3.pgn", folder)

    def play(self, ours, theirs, clock, games, *more, slots=CPUS):
        """What build/match says of them in the end; `ours` and `theirs` are words behind -engine."""
        lines = self.folder / "match.jsonl"
        lines.unlink(missing_ok=True)
        output(self.build / "match", "-engine", "name=ours", *ours, "-engine", "name=theirs", *theirs, "-each", f"tc={clock}",
               "option.Hash=16", "-openings", f"file={self.book}", "format=pgn", "order=random", "-srand", "1", "-rounds",
               max(1, games // 2), "-concurrency", slots, "-ratinginterval", "0", "-jsonout", f"file={lines}", *more)
        end = json.loads(lines.read_text().splitlines()[-1])
        assert end["type"] == "end" and end["ending"] == "finished", end
        return end["scores"][0]

    def ours(self, *more):
        return [f"cmd={self.build / 'engine'}", *more]


def score_of(pairs):
    """Mean score of a game and half its 95 % interval, in per cent, from how many pairs had 0, 0.5, … 2 points."""
    count = sum(pairs)
    mean = sum(number * points / 4 for points, number in enumerate(pairs)) / count
    variance = sum(number * (points / 4 - mean) ** 2 for points, number in enumerate(pairs)) / count
    return 100 * mean, 196 * math.sqrt(variance / count)


def show(what, result, limit="", good=lambda mean, half: True):
    """A match's rows."""
    mean, half = score_of(result["pairs"])
    games = 2 * sum(result["pairs"])
    fine = row(f"{what}: {games:,} games", f"{mean:.1f} ± {half:.1f}", "%", limit, good(mean, half))
    row("   Elo", f"{result['elo']:+.0f} ± {result['elo_error']:.0f}", "")
    row("   lost on time: ours, theirs; on a busy machine", ", ".join(map(str, result["time_losses"])) +
        f"; {result['overloaded']}", "games")
    return fine


def against_others(matches, games):
    fine = True
    for name, options, goal in FOES:
        program = pathlib.Path("/usr/games", name)
        if not program.exists():
            row(f"anvil against {name}: not installed, skipped", "-", "")
            continue
        result = matches.play(matches.ours(), [f"cmd={program}", *options], "2+0.02", games)
        fine &= show(f"anvil against {name} at 2+0.02", result, f"{goal}: its lower end {goal - 4}",
                     lambda mean, half, least=goal - 4: mean - half > least)
    return fine


def against_itself(matches, games):
    """The net against the classical evaluation, and two threads against one, a game at a time for every two CPUs."""
    fine = True
    if has_default_net(matches.build):
        result = matches.play(matches.ours("option.EvalFile=<default>"), matches.ours("option.EvalFile=none"), "2+0.02", games)
        fine &= show("the default net against the classical evaluation", result, "at least +100 Elo", lambda *_: result["elo"] >= 100)
    else:
        row("the default net against the classical evaluation: no net, skipped", "-", "")
    if CPUS > 1:
        result = matches.play(matches.ours("option.Threads=2"), matches.ours("option.Threads=1"), "2+0.02", games // 2,
                              "-noaffinity", slots=CPUS // 2)
        fine &= show("two threads against one at 2+0.02", result, "over 50, lower end too", lambda mean, half: mean - half > 50)
    return fine


def short_clocks(matches, games):
    fine = True
    for clock, count in (("0.2+0.002", 5 * games), ("0.1+0.001", games)):
        result = matches.play(matches.ours(), matches.ours(), clock, count)
        lost, played = sum(result["time_losses"]), 2 * sum(result["pairs"])
        fine &= row(f"anvil against itself at {clock}: {played:,} games, lost on time", lost, "games", "none", lost == 0)
        if lost:
            row("   of them while the machine was busy elsewhere", result["overloaded"], "games")
    return fine


def strength(build, games):
    if not (SHARED / "data/books/8moves_v3.pgn.zip").exists():
        row("strength: needs ../shared, skipped", "-", "")
        return True
    with tempfile.TemporaryDirectory(prefix="patchmate-bench-") as folder:
        matches = Matches(build, folder)
        return all([part(matches, games or 400) for part in (against_others, against_itself, short_clocks)])
