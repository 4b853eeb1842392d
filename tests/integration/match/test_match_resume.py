#!/usr/bin/python3
# test: sanitized if LONG
"""build/match goes on where it was stopped: killed at random moments and started again until it is
done, every pair is in every file and in the counts exactly once; a state of another match is refused."""
import collections
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/kit_py")
from builds import MATCH, TOY  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="match-resume-")
HERE = pathlib.Path(FOLDER.name)
ROUNDS = 300
BEFORE = '[Event "Before"]\n\n1. e4 e5 *\n\n'


def command(folder, *more, rounds=ROUNDS):
    folder.mkdir(exist_ok=True)
    book = HERE / "book.epd"
    book.write_text("".join(f"4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 {i}\n" for i in range(1, 101)))
    return [MATCH, "-engine", f"cmd={TOY}", "name=A", "option.Seed=1",
            "-engine", f"cmd={TOY}", "name=B", "option.Seed=2", "-each", "tc=1000",
            "-rounds", str(rounds), "-maxmoves", "30", "-concurrency", "2", "-ratinginterval", "50",
            "-openings", f"file={book}", "order=random", "-srand", "5",
            "-pgnout", f"file={folder}/games.pgn", "-epdout", f"file={folder}/ends.epd",
            "-jsonout", f"file={folder}/games.jsonl", "-state", f"{folder}/state.json",
            "-autosaveinterval", "8", *more]


def play(argv, status=0):
    done = subprocess.run(argv, capture_output=True, timeout=300 * LOAD_FACTOR, text=True)
    equal(done.returncode, status, f"status; it said:\n{done.stdout[-800:]}{done.stderr}")
    return done.stdout + done.stderr


def interrupt(argv, number, games, pause_s=0.0, ready=lambda: True):
    """Sends the signal once so many games have ended and `ready` says so, and a moment later. True where the match was
    still running."""
    # The match stops at a full pipe: however slow this reader, few games end unseen.
    with subprocess.Popen(argv, bufsize=0, pipesize=4096, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as match:
        for line in match.stdout:
            games -= line.startswith(b"Finished game")
            if games <= 0 and ready():
                time.sleep(pause_s)
                match.send_signal(number)
                break
        err = match.communicate(timeout=60 * LOAD_FACTOR)[1].decode()
    true(match.returncode in (0, -number, 128 + number), f"ended with {match.returncode}: {err}")
    return match.returncode != 0


def pgn_games(folder):
    """(round, white, result, final comment's move text) of each game, in the file's order."""
    games = []
    for block in re.split(r"\n\n(?=\[)", (folder / "games.pgn").read_text().strip()):
        tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', block, re.M))
        if tags["Event"] != "Before":
            games.append((int(tags["Round"]), tags["White"], tags["Result"], tags["PlyCount"]))
    return games


def json_lines(folder):
    return [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]


def totals(text):
    return (re.findall(r"Total: .*", text)[-1], re.findall(r"Ptnml.*", text)[-1])


def whole():
    """The same match without any interruption, played once."""
    folder = HERE / "whole"
    if not folder.exists():
        folder.mkdir()
        (folder / "games.pgn").write_text(BEFORE)
        (folder / "out").write_text(play(command(folder)))
    return folder


def check_against_whole(folder, said):
    straight = whole()
    equal(len(pgn_games(folder)), 2 * ROUNDS, "games in the PGN file")
    equal(pgn_games(folder), pgn_games(straight), "the games of the PGN file")
    equal((folder / "ends.epd").read_text(), (straight / "ends.epd").read_text(), "the EPD file")
    games = [line for line in json_lines(folder) if line["type"] == "game"]
    equal([(g["pair"], g["index"]) for g in games], [(p, i) for p in range(ROUNDS) for i in (0, 1)],
          "the games of the JSON file")
    counts = collections.Counter(g["moves"][0] for g in games)
    equal(counts, collections.Counter(g["moves"][0] for g in json_lines(straight)
                                      if g["type"] == "game"), "their first moves")
    equal(totals(said), totals((straight / "out").read_text()), "the last report")
    true((folder / "games.pgn").read_text().startswith(BEFORE), "what was in the file before is gone")


def hunted(name, number, seed):
    chance = random.Random(seed)
    folder = HERE / name
    folder.mkdir()
    (folder / "games.pgn").write_text(BEFORE)
    kills = 0
    while interrupt(command(folder), number, chance.randint(1, 120), chance.uniform(0, 0.004)):
        kills += 1
        true(kills < 200, "it does not get on")
    true(kills >= 3, f"only {kills} interruptions: the test says nothing")
    return folder, play([MATCH, "-state", f"{folder}/state.json"])


def a_match_that_is_killed_again_and_again_plays_every_pair_once():
    check_against_whole(*hunted("killed", signal.SIGKILL, 11))


def a_match_that_is_interrupted_again_and_again_plays_every_pair_once():
    check_against_whole(*hunted("interrupted", signal.SIGINT, 12))


def the_state_file_alone_is_command_enough():
    folder = HERE / "alone"
    interrupt(command(folder), signal.SIGKILL, ROUNDS)  # by then the first pair has ended, however slowly its engines start
    said = play([MATCH, "-config", f"file={folder}/state.json"])
    contains(said, "Finished match")
    equal(len(pgn_games(folder)), 2 * ROUNDS)
    types = [line["type"] for line in json_lines(folder)]
    true("resume" in types and types[-1] == "end", f"types of lines: {set(types)}")


def a_match_killed_before_it_was_ever_saved_leaves_nothing_behind():
    folder = HERE / "early"
    folder.mkdir()
    (folder / "games.pgn").write_text(BEFORE)
    never = command(folder, "-autosaveinterval", "1000000")
    # A first pair that takes long keeps all later ones from the file.
    true(interrupt(never, signal.SIGKILL, ROUNDS, ready=lambda: (folder / "games.pgn").stat().st_size > len(BEFORE)),
         "the match ended before a game was written")
    check_against_whole(folder, play(never))


def without_a_state_the_games_that_ended_are_kept():
    folder = HERE / "stateless"
    argv = command(folder)
    at = argv.index("-state")
    out = b""
    with subprocess.Popen(argv[:at] + argv[at + 2:], stdout=subprocess.PIPE) as match:
        for line in match.stdout:
            out += line
            if line.startswith(b"Finished game 40 "):
                match.send_signal(signal.SIGINT)
    equal(match.returncode, 130)
    total = int(re.findall(rb"Total: (\d+)", out)[-1])
    equal(total, len(re.findall(rb"Finished game .*: (?:1-0|0-1|1/2)", out)), "games in the last report")
    equal(len(pgn_games(folder)), total, "games in the PGN file")


def a_tournament_also_continues_with_more_games_at_a_time():
    outs = []
    for name, stops in (("tour", 4), ("tour-whole", 0)):
        folder = HERE / name
        argv = command(folder, "-engine", f"cmd={TOY}", "name=C", "option.Seed=3", "-games", "1",
                       "-output", "format=cutechess", rounds=60)
        for slots in range(stops):
            true(interrupt([*argv, "-concurrency", str(slots % 3 + 1)], signal.SIGKILL, 30), "it was over")
        outs.append(play([*argv, "-concurrency", "1"]))
    for wanted in (r"^Rank Name .*\n(?:.*\n){3}", r"^Score of A vs B: .* 60$", r"^Score of B vs C: .* 60$"):
        first, second = (re.findall(wanted, out, re.M)[-1] for out in outs)
        equal(first, second, "the last of its kind")
    equal(pgn_games(HERE / "tour"), pgn_games(HERE / "tour-whole"), "the games of the PGN file")


def a_match_that_is_over_is_only_reported():
    folder = whole()
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "out"}
    said = play(command(folder))
    true("Started game" not in said, "games were played")
    equal(totals(said), totals((folder / "out").read_text()))
    equal({p.name: p.read_bytes() for p in folder.iterdir() if p.name != "out"}, before, "the files")


def more_rounds_go_on_from_a_match_that_is_over():
    folder = HERE / "more"
    play(command(folder, rounds=10))
    said = play(command(folder, rounds=14))
    contains(said, "Total: 28 ")
    equal(sorted(collections.Counter(g[0] for g in pgn_games(folder)).items()), [(i, 2) for i in range(1, 15)])


def a_state_of_another_match_is_refused_and_the_difference_named():
    folder = HERE / "other"
    play(command(folder, rounds=3))
    files = {p.name: p.read_bytes() for p in folder.iterdir()}
    for more, wanted in ((["-maxmoves", "31"], 'adjudication was "draw 0/0/0, resign 0/0, maxmoves 30"'),
                         (["-each", "tc=1001"], 'engine 1 was "A: '),
                         (["-srand", "6"], 'seed was "5" and is "6"'),
                         (["-rounds", "2"], "3 pairs were played, more than the 2 of -rounds")):
        said = play(command(folder, *more, rounds=3), status=1)
        contains(said, wanted)
        contains(said, f"{folder}/state.json")
    (HERE / "book.epd").write_text("4k3/pppp4/8/8/8/8/4PPPP/4K3 b - - 0 1\n")
    argv = command(folder, rounds=3)
    (HERE / "book.epd").write_text("4k3/pppp4/8/8/8/8/4PPPP/4K3 b - - 0 1\n")
    contains(play(argv, status=1), "CRC of the book was ")
    equal({p.name: p.read_bytes() for p in folder.iterdir()}, files, "files of the refused match")


def files_that_lost_games_are_refused():
    folder = HERE / "short"
    play(command(folder, rounds=3))
    (folder / "ends.epd").write_text("")
    contains(play(command(folder, rounds=4), status=1), "ends.epd has 0 bytes, but had ")


def a_file_that_is_not_a_state_is_refused():
    folder = HERE / "none"
    folder.mkdir()
    (folder / "state.json").write_text('{"format": "something else"}')
    contains(play(command(folder), status=1), "is not the state of a match")
    (folder / "state.json").write_text('{"format": ')
    contains(play(command(folder), status=1), "state.json: line 1: ")
    contains(play([MATCH, "-state", f"{folder}/nowhere"], status=1), "does not exist")


if __name__ == "__main__":
    run(a_match_that_is_killed_again_and_again_plays_every_pair_once,
        a_match_that_is_interrupted_again_and_again_plays_every_pair_once,
        a_match_killed_before_it_was_ever_saved_leaves_nothing_behind,
        without_a_state_the_games_that_ended_are_kept, the_state_file_alone_is_command_enough,
        a_tournament_also_continues_with_more_games_at_a_time, a_match_that_is_over_is_only_reported,
        more_rounds_go_on_from_a_match_that_is_over,
        a_state_of_another_match_is_refused_and_the_difference_named, files_that_lost_games_are_refused,
        a_file_that_is_not_a_state_is_refused)
