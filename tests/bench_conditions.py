"""What `make bench` measures of the conditions of a game, each by name and with SEED=: `clock`, how long an engine can think that
overdraws its clock; `thieves`, what an engine gains that computes in its opponent's time; `audit`, how often the rules that end
games are wrong, and what they save."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from figures import head, output, row

ROOT = pathlib.Path(__file__).resolve().parents[1]
BOOK = ROOT / "tests/data/books/anvil.epd"
WAYS = (("", "an honest engine"), ("thread", "one thread"), ("threads", "short threads"), ("processes", "processes"))
PAIRS = 10


def clock(build, _games, seed):
    head(seed)
    print("  " + output(build / "tests" / "clock_table", seed).replace("\n", "\n  "))
    return True


def play(build, way, pairs, seed, *options):
    """A match of such an engine with the same one on one CPU: its points, its games, and how many a side lost by pondering."""
    engine = build / "engine"
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as lines:
        subprocess.run([build / "match", "-engine", f"cmd={build}/tests/ponderer", f"arg={way}", f"arg={engine}", "name=tried",
                        "-engine", f"cmd={build}/tests/ponderer", "arg=", f"arg={engine}", "name=honest", "-each", "tc=2+0.02", "timemargin=250",
                        "option.Hash=16", "-openings", f"file={BOOK}", "order=random", "-srand", str(seed),
                        "-rounds", str(pairs), "-repeat", "-use-affinity", "-jsonout", f"file={lines.name}", *options],
                       check=True, stdout=subprocess.DEVNULL)
        games = [line for line in map(json.loads, open(lines.name)) if line["type"] == "game"]
    points = {"1-0": 1, "0-1": 0, "1/2-1/2": 0.5}
    won = sum(points[game["result"]] if game["white"] == "tried" else 1 - points[game["result"]] for game in games)
    return won, len(games), [sum(game["end"] == "ponder" and game["culprit"] == name for game in games) for name in ("tried", "honest")]


def thieves(build, games, seed):
    """Beside an honest engine in the same run; with the rule of tests (-fair) and without it."""
    head(seed)
    fine, pairs = True, (games or 2 * PAIRS) // 2
    for way, name in WAYS:
        won, played, _ = play(build, way, pairs, seed)
        row(f"{name}: points without the rule", f"{won:g} of {played}", "games")
        won, played, (tried, honest) = play(build, way, pairs, seed, "-fair")
        caught = (tried, honest) == ((played, 0) if way else (0, 0))
        fine &= row("   with it", f"{won:g} of {played}", "games", "none, if it ponders" if way else "", caught and (not way or not won))
        row("   lost by computing in the opponent's time: it, its opponent", f"{tried}, {honest}", "games")
    return fine


RULES = ("-draw", "movenumber=34", "movecount=8", "score=20", "-resign", "movecount=3", "score=600")  # those of a new test
REPORT = re.compile(r"Adjudication: (\d+) games played on; (\d+) won by rule, (\d+) of them wrong; (\d+) drawn by rule, "
                    r"(\d+) of them wrong; (\d+) without an end; the rules saved ([\d.]+) %")


def audit(build, games, seed):
    """Anvil at 6,000 nodes a move against 5,000, so that no two games are alike. Every game that a rule ends is played on."""
    head(seed)
    sums, saved, round_seed = [0] * 6, [], seed
    while sums[0] < (games or 2000):
        text = output(build / "match", "-engine", f"cmd={build}/engine", "name=new", "nodes=6000", "-engine", f"cmd={build}/engine",
                      "name=base", "nodes=5000", "-each", "tc=inf", "option.Hash=8", "-rounds", "100", "-repeat", "-concurrency",
                      str(os.cpu_count()), "-openings", f"file={BOOK}", "order=random", "-srand", str(round_seed), "-ratinginterval",
                      "0", "-playon", "100", *RULES)
        *counts, share = REPORT.search(text).groups()
        sums = [a + int(b) for a, b in zip(sums, counts)]
        saved.append(float(share))
        round_seed += 1
    on, wins, wrong_wins, draws, wrong_draws, unknown = sums
    row("games that a rule ended", f"{on}", "games")
    row("   won by rule, of these wrong", f"{wins}, {wrong_wins}", "games")
    row("   drawn by rule, of these wrong", f"{draws}, {wrong_draws}", "games")
    row("   without an end after 400 more plies", f"{unknown}", "games")
    row("thinking time that the rules saved", f"{sum(saved) / len(saved):.1f}", "%")
    return True
