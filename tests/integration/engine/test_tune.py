#!/usr/bin/python3
"""`engine tune` as a person runs it: games in, values out, and an engine built with them. The games are written here, by
the format's description alone.
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kit_py"))
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENGINE = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "engine"))
HEADER = "anvil games 1\nengine Anvil\nseed 1\nfirst 0\nlimit nodes 1\nnet none\nopenings none\n\n"
# Kings and knights walk to and fro; who has more wins.
GAMES = (
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 9", 1, 0),
    ("r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 9", 2, 300),
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 9", 0, -300),
    ("rnbqkbnr/1ppppp2/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 9", 2, 200),
    ("rnbqkbnr/pppppppp/8/8/8/8/2PPPP1P/RNBQKBNR w KQkq - 0 9", 0, -200),
)
SQUARES = {f"{file}{rank}": "abcdefgh".index(file) + 8 * (rank - 1) for file in "abcdefgh" for rank in range(1, 9)}


def record(fen, result, score, plies=32):
    moves = [SQUARES[m[:2]] | SQUARES[m[2:]] << 6 for m in ("g1f3", "g8f6", "f3g1", "f6g8")]
    payload = fen.encode() + b"\0" + struct.pack("<BH", result, plies)
    payload += b"".join(struct.pack("<Hh", moves[i % 4], score) for i in range(plies))
    return struct.pack("<II", len(payload), zlib.crc32(payload)) + payload


def write_games(folder, count=40):
    body = b"".join(record(*GAMES[i % len(GAMES)]) for i in range(count))
    path = pathlib.Path(folder) / "games-000000.anvil"
    path.write_bytes(HEADER.encode() + body)
    return path


def tune(*words):
    return subprocess.run([ENGINE, "tune", *map(str, words)], capture_output=True, text=True, timeout=600 * LOAD_FACTOR)


def losses(text):
    return {m.group(1): float(m.group(2)) for m in re.finditer(r"^(\w+) +training ([\d.]+)", text, re.M)}


def games_make_the_evaluation_better():
    with tempfile.TemporaryDirectory() as folder:
        write_games(folder)
        out = pathlib.Path(folder) / "values.c"
        done = tune("--data", folder, "--epochs", 40, "--threads", 2, "--out", out)
        equal(done.returncode, 0, done.stderr)
        found = losses(done.stdout)
        true(found["after"] < found["before"] < found["constant"], done.stdout)
        contains(done.stdout, "40 games, 1280 positions, quiet: 1152 for training, 128 for validation")
        contains(out.read_text(), "const EvalValues EVAL = {")


def the_file_it_writes_builds_into_an_engine_with_these_values():
    with tempfile.TemporaryDirectory() as folder:
        write_games(folder)
        tree = pathlib.Path(folder) / "engine"
        shutil.copytree(ROOT / "engine", tree, ignore=shutil.ignore_patterns("obj", "anvil"))
        values = tree / "eval/values.c"
        before = values.read_text()
        done = tune("--data", folder, "--epochs", 10, "--out", values)
        equal(done.returncode, 0, done.stderr)
        true(values.read_text() != before, "nothing was learned")
        built = subprocess.run(["make", "-s", "-j2", "-C", tree, "OPT=-O0", "LTO=", "ARCH="], capture_output=True, text=True)
        equal(built.returncode, 0, built.stderr)
        printed = subprocess.run([tree / "anvil", "tune", "--print"], capture_output=True, text=True, check=True)
        equal(printed.stdout, values.read_text())


def without_an_epoch_the_values_stay_as_they_are():
    with tempfile.TemporaryDirectory() as folder:
        write_games(folder)
        out = pathlib.Path(folder) / "values.c"
        equal(tune("--data", folder, "--epochs", 0, "--out", out).returncode, 0)
        equal(out.read_text(), tune("--print").stdout)


def a_damaged_file_counts_up_to_its_damage():
    with tempfile.TemporaryDirectory() as folder:
        path = write_games(folder)
        path.write_bytes(path.read_bytes()[:-10])
        done = tune("--data", path, "--epochs", 0, "--out", pathlib.Path(folder) / "values.c")
        equal(done.returncode, 0, done.stderr)
        contains(done.stdout, "39 games")
        contains(done.stderr, str(path))


def fewer_positions_are_taken_when_asked_for():
    with tempfile.TemporaryDirectory() as folder:
        write_games(folder)
        done = tune("--data", folder, "--epochs", 0, "--positions", 100, "--k", 1.5, "--out", pathlib.Path(folder) / "values.c")
        contains(done.stdout, "quiet: 100 for training, 0 for validation")
        contains(done.stdout, "k 1.5000")


def an_impossible_command_gets_an_explanation():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "values.c"
        for words, status, part in (
                ((), 2, "usage"), (("--data", folder), 2, "usage"), (("--epochs", "many"), 2, "--epochs"),
                (("--data", "--out", out), 2, "--data"),
                (("--data", folder, "--out", out, "--k", "steep"), 2, "--k"),
                (("--data", folder, "--out", out), 1, "no games-*.anvil"),
                (("--data", f"{folder}/nowhere", "--out", out), 1, "nowhere")):
            done = tune(*words)
            equal(done.returncode, status, f"{words}: {done.stderr}")
            contains(done.stderr, part)
            true(not out.exists(), "a file was written")
        other = pathlib.Path(folder) / "games-000009.anvil"
        other.write_text("something else\n")
        done = tune("--data", folder, "--out", out)
        equal(done.returncode, 1)
        contains(done.stderr, "games-000009.anvil: not a game file")
        other.unlink()
        write_games(folder)
        done = tune("--data", folder, "--epochs", 0, "--out", f"{folder}/no/where.c")
        equal(done.returncode, 1)
        contains(done.stderr, "no/where.c")


if __name__ == "__main__":
    run(games_make_the_evaluation_better, the_file_it_writes_builds_into_an_engine_with_these_values,
        without_an_epoch_the_values_stay_as_they_are, a_damaged_file_counts_up_to_its_damage,
        fewer_positions_are_taken_when_asked_for, an_impossible_command_gets_an_explanation)
