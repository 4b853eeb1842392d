#!/usr/bin/python3
# test: sanitized if LONG
"""From nothing to a net: `engine datagen` plays some games, `engine train` learns from them for a few
seconds, and the engine loads what came out.
"""
import csv
import hashlib
import os
import pty
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kit_py"))
from builds import SANITIZED  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
ENGINE = os.path.join(os.environ.get("BUILD", "build"), "engine")
FENS = ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 0 4",
        "8/5k2/8/3P4/8/2K5/8/8 w - - 0 1")


def command(*args, **options):
    return subprocess.run([ENGINE, *args], capture_output=True, text=True, timeout=600 * LOAD_FACTOR, **options)


def succeed(*args, **options):
    done = command(*args, **options)
    equal(done.returncode, 0, f"{args[0]}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return done.stdout


FOLDER = tempfile.TemporaryDirectory()
GAMES = os.path.join(FOLDER.name, "games")


def games():
    """A folder of games, played once."""
    if not os.path.exists(GAMES):
        succeed("datagen", "--out", GAMES, "--games", "40" if SANITIZED else "120", "--nodes", "150",
                "--hash", "1", "--seed", "4", "--threads", "2", "--nice", "0")
    return GAMES


def train(name, *more):
    """The command line of a short training run into a folder of its own, and the folder."""
    out = os.path.join(FOLDER.name, name)
    return ["train", "--data", games(), "--out", out, "--buckets", "2", "--epochs", "4", "--batch", "200",
            "--threads", "2", "--validation", "20", "--lr", "0.003", *more], out


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def whole_run():
    """The folder of a run without interruption, and what it said."""
    arguments, out = train("whole")
    if not os.path.exists(out):
        done = command(*arguments)
        equal(done.returncode, 0, done.stderr)
        whole_run.said, whole_run.errors = done.stdout, done.stderr
    return out, whole_run.said


def games_become_a_net_that_the_engine_loads():
    out, said = whole_run()
    contains(said, "net.compact: trainer and engine agree on 1000 of 1000 positions")
    contains(said, "net.nnue: trainer and engine agree on 1000 of 1000 positions")
    outputs = [succeed("eval", "--net", os.path.join(out, name), input="\n".join(FENS) + "\n").split()
               for name in ("net.compact", "net.nnue")]
    equal(len(outputs[0]), len(FENS), "outputs")
    equal(outputs[0], outputs[1], "outputs of the two forms")
    true(len(set(outputs[0])) > 1, f"all positions are worth {outputs[0][0]}")


def the_net_is_named_by_its_sha256():
    out, said = whole_run()
    name = hashlib.sha256(read(out, "net.compact")).hexdigest()
    contains(said, name)
    equal(read(out, name), read(out, "net.compact"), "the file of that name")
    equal(read(out, "net").decode(), name + "\n", "the line that goes into the tree")


def learning_shows_in_the_curves():
    out, said = whole_run()
    rows = list(csv.DictReader(read(out, "loss.csv").decode().splitlines()))
    equal([row["epoch"] for row in rows], ["1", "2", "3", "4"], "epochs")
    first, last = rows[0], rows[-1]
    true(float(last["training"]) < float(first["training"]), f"training: {first} {last}")
    if not SANITIZED:  # so few games teach nothing about others
        true(float(last["validation"]) < float(last["constant"]), f"validation: {last}")
    equal(len(re.findall(r"^epoch \d/4: ", said, re.M)), 4, "lines about epochs")
    drawing = xml.etree.ElementTree.fromstring(read(out, "loss.svg"))
    words = "".join(drawing.itertext())
    for word in ("training", "validation", "classical", "constant", "epoch"):
        contains(words, word)


def the_tool_reports_the_numbers_of_games_that_it_read_and_left_out():
    _, said = whole_run()
    for pattern in (r"1 files \(0 damaged\), \d+ games, \d+ plies", r"\d+ +\d+\.\d % +before ply 16",
                    r"correlation of scores and results: 0\.\d+", r"\d+ positions for training, \d+ for validation",
                    r"largest accumulator \d+ of 32767", r"^epoch 1/4: .* left$", r"^epoch 4/4: .*, 0 s left$"):
        true(re.search(pattern, said, re.M), f"no {pattern} in {said}")


def a_terminal_shows_how_long_it_will_take():
    arguments, _ = train("watched")
    ours, theirs = pty.openpty()
    process = subprocess.Popen([ENGINE, *arguments], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # how the end of a terminal looks
        pass
    os.close(ours)
    equal(process.wait(), 0, shown.decode())
    true(re.search(rb"\repoch 1/4: \d+ %, [\d,]+ positions/s, \d+ (s|min|h) ?.*left", shown), shown.decode())


def a_killed_run_goes_on_and_ends_with_the_same_net():
    arguments, out = train("killed")
    process = subprocess.Popen([ENGINE, *arguments], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("epoch 2/"):  # the first epoch's checkpoint is on disk
            break
    process.kill()
    process.wait()
    process.stdout.close()
    said = succeed(*arguments, "--resume")
    true(re.search(r"^continuing after epoch [123]$", said, re.M), said)
    equal(read(out, "net.compact"), read(whole_run()[0], "net.compact"), "net")
    refused = command(*arguments, "--resume", "--seed", "9")
    equal(refused.returncode, 1, "status with another seed")
    contains(refused.stderr, "--seed 1, not 9")
    anew = command(*arguments, "--epochs", "1")
    equal(anew.returncode, 0, anew.stderr)
    contains(anew.stderr, "will replace the checkpoint")
    true("checkpoint" not in whole_run.errors, "a fresh folder has no checkpoint to lose")


def a_net_is_learned_on_from():
    """What is begun with is as good as it was left; a wrong name is told before any game is read."""
    out, said = whole_run()
    net = os.path.join(out, "net.compact")
    arguments, _ = train("from", "--from", net)
    left, = re.findall(r"^quantised: validation loss ([\d.]+)", said, re.M)
    found, = re.findall(rf"^starting from {net}: validation loss ([\d.]+)$", succeed(*arguments), re.M)
    true(abs(float(found) / float(left) - 1) < 0.01, f"it had a loss of {left}, and begins with {found}")
    for name in ("/nowhere/at/all", os.path.join(out, "net.nnue")):
        done = command(*train("from", "--from", name)[0])
        equal((done.returncode, done.stdout), (1, ""), name)
        contains(done.stderr, name[:60])


def rounds_follow_each_other():
    """learn/rounds.sh: games of no net, a net, games of that net, the next net; and nothing is done twice."""
    folder = os.path.join(FOLDER.name, "rounds")
    words = ["sh", os.path.join(ROOT, "engine", "learn", "rounds.sh"), ENGINE, folder, "2", "60", "30", "--epochs", "1",
             "--correlation", "0"]  # so few games say little
    done = subprocess.run(words, capture_output=True, text=True)
    equal(done.returncode, 0, done.stderr)
    heads = [read(folder, games, "games-000000.anvil").split(b"\n\n")[0].decode() for games in ("games-1", "games-2")]
    contains(heads[0], "\nnet none\n")
    contains(heads[1], f"\nnet {read(folder, 'net-1', 'net').decode().strip()}\n")
    contains(done.stdout, "starting from net-1/net.compact")
    nets = [read(folder, net, "net") for net in ("net-1", "net-2")]
    true(nets[0] != nets[1], "the second round teaches nothing")
    again = subprocess.run(words, capture_output=True, text=True)
    equal((again.returncode, again.stdout.count("continuing after epoch 1")), (0, 2), again.stderr)
    equal([read(folder, net, "net") for net in ("net-1", "net-2")], nets)
    equal(subprocess.run(words[:4], capture_output=True).returncode, 2)


def bad_words_and_folders_are_named():
    for words, said in ((["--frobnicate", "1"], "--frobnicate"), (["--epochs", "0"], "--epochs 0: give a number from 1 to"),
                        (["--lr", "much"], "--lr much: give a number from 0 to 1"), (["--validation", "51"], "from 1 to 50"),
                        (["--buckets", "3"], "usage"), (["--data"], "--data")):
        done = command("train", "--data", "x", "--out", "y", *words)
        equal(done.returncode, 2, f"status of {words}")
        contains(done.stderr, said)
    done = command("train", "--data", "/nowhere/at/all", "--out", os.path.join(FOLDER.name, "none"))
    equal(done.returncode, 1, "status without data")
    contains(done.stderr, "/nowhere/at/all")


if __name__ == "__main__":
    with FOLDER:
        run(games_become_a_net_that_the_engine_loads, the_net_is_named_by_its_sha256, learning_shows_in_the_curves,
            the_tool_reports_the_numbers_of_games_that_it_read_and_left_out, a_terminal_shows_how_long_it_will_take,
            a_killed_run_goes_on_and_ends_with_the_same_net, a_net_is_learned_on_from,
            rounds_follow_each_other, bad_words_and_folders_are_named)
