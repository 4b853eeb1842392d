"""What `make bench PARTS=judgement` measures: how well the engine judges quiet positions of its own games, at first sight and after
searches as shallow as those of the games that a net learns from. A net that looks good beside the scores of its own teacher need
not be: so the measure is another engine, stockfish, which searches each position for longer."""

import concurrent.futures
import functools
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

from bench_engine import has_default_net
from figures import STOCKFISH, output, row
from uci import Engine

CPUS = len(os.sched_getaffinity(0))
GAMES, NODES, SEED = 600, 10_000, 7
POSITIONS = 4000
CENTIPAWNS = 170  # of stockfish 15.1 for a chance of 73 %


def chance(logit):
    return 1 / (1 + math.exp(-max(-30, min(30, logit))))


def sample(build, folder):
    """Quiet positions of games that the engine plays with itself, apart from all games for learning by their seed."""
    subprocess.run([build / "engine", "datagen", "--out", folder, "--games", str(GAMES), "--nodes", "300", "--seed", "123456789"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = output(build / "engine", "games", "--epd", *sorted(pathlib.Path(folder).iterdir())).splitlines()
    return random.Random(SEED).sample([line.split(" ce ")[0] for line in lines], POSITIONS)


def searched(program, options, limit, fens):
    """Score and nodes of each position, the side to move's view; a mate counts as 30 pawns."""
    found = []
    with Engine(program) as engine:
        engine.ask(*(f"setoption name {option}" for option in ("Hash value 16", *options)))
        for fen in fens:
            engine.send("ucinewgame", f"position fen {fen}", f"go {limit}")
            told = [told for line in engine.until("bestmove")
                    if (told := re.search(r" score (cp|mate) (-?\d+) .*?nodes (\d+)", line))]
            kind, score, nodes = told[-1].groups()
            found.append((int(score) if kind == "cp" else math.copysign(3000, int(score)), int(nodes)))
    return found


def search_all(program, options, limit, fens):
    """The same on all CPUs."""
    with concurrent.futures.ThreadPoolExecutor(CPUS) as pool:
        parts = pool.map(functools.partial(searched, program, options, limit), [fens[i::CPUS] for i in range(CPUS)])
        found = [None] * len(fens)
        for i, part in enumerate(parts):
            found[i::CPUS] = part
    return found


def static(build, net, fens):
    """What the evaluation itself says; without a net it speaks for White."""
    done = subprocess.run([build / "engine", "eval", "--net", net], input="\n".join(fens) + "\n", capture_output=True, text=True, check=True)
    said = [int(line.split()[0]) for line in done.stdout.splitlines()]
    return [-score if net == "none" and " b " in fen else score for score, fen in zip(said, fens, strict=True)]


def error(scores, chances):
    """Mean squared error of the chances that scores stand for, on the scale that suits them best."""
    def at(scale):
        return statistics.fmean((chance(scale * score) - true) ** 2 for score, true in zip(scores, chances))
    size = math.sqrt(statistics.fmean(score * score for score in scores))
    low, high = math.log(0.1 / size), math.log(10 / size)
    for _ in range(20):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if at(math.exp(left)) < at(math.exp(right)) else (left, high)
    return at(math.exp(low))


def show(what, scores, chances, limit="", least=math.inf):
    found = error(scores, chances)
    row(what, f"{1e4 * found:.1f}", "x 10^-4", limit, found < least)
    return found


def judgement(build, _games):
    if not STOCKFISH.exists():
        row("judgement beside stockfish: not installed, skipped", "-", "")
        return True
    with tempfile.TemporaryDirectory(prefix="patchmate-bench-") as folder:
        fens = sample(build, folder)
    chances = [chance(score / CENTIPAWNS) for score, _ in search_all(STOCKFISH, (), f"nodes {NODES}", fens)]
    print(f"  mean squared error of the chance to win, {len(fens):,} positions, beside stockfish at {NODES:,} nodes")
    first = show("classical evaluation", static(build, "none", fens), chances)
    if has_default_net(build):
        first = show("default net", static(build, "<default>", fens), chances, "under the line above", first)
    fine = True
    for depth in range(1, 7):
        found = search_all(build / "engine", (), f"depth {depth}", fens)
        nodes = statistics.fmean(nodes for _, nodes in found)
        fine &= show(f"   search to depth {depth}, {nodes:,.0f} nodes", [score for score, _ in found], chances, "under no search",
                     first) < first
    return fine
