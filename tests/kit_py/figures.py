"""How `make bench` measures and prints: a figure a line, beside its limit."""

import pathlib
import statistics
import subprocess

STOCKFISH = pathlib.Path("/usr/games/stockfish")


def row(what, figure, unit, limit="", fine=True):
    """`limit` as text; a mark shows in the column whether it is met."""
    print(f"  {what:<58} {figure:>12} {unit:<12} {limit:<24} {'' if fine else '  <-- MISSED'}", flush=True)
    return fine


def head(seed):
    commit = output("git", "-C", pathlib.Path(__file__).parent, "rev-parse", "--short=10", "HEAD").strip()
    print(f"  commit {commit}, seed {seed}")


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"


def output(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


def median_of(measure, runs):
    return statistics.median(measure() for _ in range(runs))
