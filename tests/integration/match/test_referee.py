#!/usr/bin/python3
"""The referee of build/match: games by script whose end is known, each with the source of its rule
(tests/data/referee/cases.json); and 400 games of a deterministic engine, which are the same whatever the slots, the
restarts and the build, and the same that other match runners make of it where one is installed. RECORD=1 writes their
digest anew: for a change of the toy engine, the book or the rules that was meant."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from builds import MATCH, TOY  # noqa: E402
from pgn import read_games  # noqa: E402
from tap import LOAD_FACTOR, Skip, equal, run, true  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "tests/data/referee"
FINISHED = re.compile(r"Finished game \d+ \(.*\): (\S+) \{(.*)\}")
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="referee-test-"))
CASES = json.loads((DATA / "cases.json").read_text())
GAMES = 400


def engine(name, *words):
    return ["-engine", f"cmd={TOY}", f"name={name}", *words]


def play_case(number):
    case = CASES[number]
    pgn, book = FOLDER / f"{number}.pgn", FOLDER / f"{number}.epd"
    book.write_text(case["fen"] + "\n")
    script = [f"option.Script={case['moves']}"] if case["moves"] else []
    fault = [f"arg={case['white_fault']}"] if "white_fault" in case else []
    done = subprocess.run(
        [MATCH, *engine("A", *fault, case.get("white_clock", "tc=60+1"), f"option.Score={case.get('white', 0)}", *script),
         *engine("B", "tc=60+1", f"option.Score={case.get('black', 0)}", *script), "-rounds", "1", "-games", "1",
         "-openings", f"file={book}", "format=epd", *case.get("args", []), "-pgnout", f"file={pgn}"],
        capture_output=True, text=True, timeout=60 * LOAD_FACTOR)
    found = FINISHED.search(done.stdout)
    plies = [int(tags["PlyCount"]) for tags, _ in read_games(pgn)]
    return [*(found.groups() if found else (None, done.stderr)), *plies]


def a_case(number):
    case = CASES[number]

    def test():
        equal(RESULTS[number], [case["result"], case["end"], case["plies"]], case["source"])
    test.__name__ = case["name"].replace(" ", "_")
    return test


# ---- the deterministic engine --------------------------------------------------------------------

def book():
    return sorted((ROOT / "tests/data/books").glob("*.epd"))[0]


def games_of(pgn):
    """(round, White, result, moves) in order of play; openings are a pair's."""
    return sorted((int(tags["Round"].split(".")[0]), tags["White"], tags["Result"], " ".join(moves)) for tags, moves in read_games(pgn))


def play_all(name, *options, program=MATCH):
    pgn = FOLDER / f"{name}.pgn"
    pgn.unlink(missing_ok=True)
    done = subprocess.run(
        [program, *engine("A", "option.Seed=1"), *engine("B", "option.Seed=2"), "-each", "tc=1000", "proto=uci", *options[:1],
         "-rounds", str(GAMES // 2), "-games", "2", "-repeat", "-maxmoves", "60", "-openings", f"file={book()}", "format=epd",
         "order=sequential", *options[1:], "-pgnout", str(pgn) if "cutechess" in str(program) else f"file={pgn}"],
        capture_output=True, text=True, timeout=900 * LOAD_FACTOR, cwd=FOLDER)
    return games_of(pgn), done


def digest(games):
    return hashlib.sha256("\n".join("|".join(map(str, game)) for game in games).encode()).hexdigest()


def four_hundred_games_are_the_recorded_ones():
    games, done = play_all("one", "restart=off", "-concurrency", "1")
    equal(len(games), GAMES, done.stderr)
    results = {result: sum(game[2] == result for game in games) for result in ("1-0", "0-1", "1/2-1/2")}
    record = {"games": GAMES, "plies": sum(len(game[3].split()) - 1 for game in games), "results": results, "sha256": digest(games)}
    if os.environ.get("RECORD"):
        (DATA / "games.json").write_text(json.dumps(record, indent=1) + "\n")
    equal(record, json.loads((DATA / "games.json").read_text()))


def two_slots_play_the_same_games():
    equal(digest(play_all("two", "restart=off", "-concurrency", "2")[0]), digest(games_of(FOLDER / "one.pgn")))


def a_new_process_for_every_game_plays_the_same_games():
    equal(digest(play_all("restart", "restart=on", "-concurrency", "2")[0]), digest(games_of(FOLDER / "one.pgn")))


def same_as(name):
    program = shutil.which(name)
    if not program:
        raise Skip(f"{name} is not in PATH")
    theirs, done = play_all(name, "restart=off", "-concurrency", "1", "-recover", program=program)
    ours = games_of(FOLDER / "one.pgn")
    equal(len(theirs), GAMES, done.stdout[-500:] + done.stderr[-500:])
    different = [(our, their) for our, their in zip(ours, theirs) if our[1:] != their[1:]]
    true(not different, f"{len(different)} games differ, the first: {different[:1]}")


def fastchess_makes_the_same_of_every_game():
    same_as("fastchess")


def cutechess_makes_the_same_of_every_game():
    same_as("cutechess-cli")


try:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        RESULTS = list(pool.map(play_case, range(len(CASES))))
    run(*[a_case(number) for number in range(len(CASES))], four_hundred_games_are_the_recorded_ones, two_slots_play_the_same_games,
        a_new_process_for_every_game_plays_the_same_games, fastchess_makes_the_same_of_every_game,
        cutechess_makes_the_same_of_every_game)
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
