#!/usr/bin/python3
# test: sanitized if LONG
"""`engine datagen` and `engine games` as people run them: the same bytes whatever happens on the way, and files
that say of themselves whether they are whole.
"""
import hashlib
import lzma
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kit_py"))
from builds import SANITIZED  # noqa: E402
from pgn import read_games  # noqa: E402
from tap import LOAD_FACTOR, Skip, contains, equal, run, true  # noqa: E402

ENGINE = os.path.join(os.environ.get("BUILD", "build"), "engine")
PATIENCE_S = 600 * LOAD_FACTOR  # a run is nice: busy processes leave it little
# Sanitized it is ten times slower, and the test is after their reports, not after rare kills.
GAMES = 8 if SANITIZED else 24
QUICK = ("--nodes", "60", "--hash", "1")


def command(*arguments, text=""):
    return subprocess.run([ENGINE, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=PATIENCE_S)


def datagen_arguments(folder, games=GAMES, *more, threads=1, limit=QUICK):
    return ["datagen", "--out", str(folder), "--games", str(games), "--threads", str(threads), *limit, *map(str, more)]


def datagen(*arguments, status=0, **options):
    done = command(*datagen_arguments(*arguments, **options))
    equal(done.returncode, status, done.stderr)
    return done


def contents(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


class Folders:
    """Folders for runs, gone at the end."""

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="patchmate-datagen-")
        return lambda name: pathlib.Path(self.temporary.name, name)

    def __exit__(self, *error):
        self.temporary.cleanup()


def read_file(data):
    """(header lines as a dict, [(fen, result, [(move, score)])]) of a game file, read by the description of its format
    and nothing else."""
    head, _, rest = data.partition(b"\n\n")
    first, *lines = head.decode().splitlines()
    equal(first, "anvil games 1")
    games = []
    while rest:
        length, total = struct.unpack_from("<II", rest)
        payload, rest = rest[8:8 + length], rest[8 + length:]
        equal(len(payload), length, "length of a record")
        equal(zlib.crc32(payload), total, "sum of a record")
        fen, _, body = payload.partition(b"\0")
        result, plies = struct.unpack_from("<BH", body)
        equal(len(body), 3 + 4 * plies, "bytes of the moves")
        games.append((fen.decode(), result, list(struct.iter_unpack("<Hh", body[3:]))))
    return dict(line.split(" ", 1) for line in lines), games


# ---- the bytes ------------------------------------------------------------------------------------

def two_threads_write_the_bytes_of_one():
    with Folders() as folder:
        datagen(folder("one"))
        datagen(folder("two"), threads=2)
        equal(contents(folder("two")), contents(folder("one")))


def a_file_has_the_described_format():
    with Folders() as folder:
        datagen(folder("a"), GAMES, "--seed", 12)
        files = contents(folder("a"))
        equal(list(files), ["games-000000.anvil"])
        header, games = read_file(files["games-000000.anvil"])
        equal({name: header[name] for name in ("seed", "first", "limit", "ends")},
              {"seed": "12", "first": "0", "limit": "nodes 60, at most 1200, hash 1 MB",
               "ends": "|score| >= 1500 for 4 plies, or <= 8 for 10 from ply 80"})
        nodes = re.search(r"Nodes searched  : (\d+)", command("bench", 6).stdout)
        equal(header["engine"], f"Anvil, bench 6 = {nodes.group(1)}")
        equal(len(games), GAMES)
        true(all(moves for _, _, moves in games), "every game has moves")
        true(all(-32000 <= score <= 32000 for _, _, moves in games for _, score in moves), "scores are in range")
        true(len({fen for fen, _, _ in games}) == GAMES, "openings differ")
        true({fen.split()[1] for fen, _, _ in games} == {"w", "b"}, "either side begins")


def another_seed_is_another_run():
    with Folders() as folder:
        datagen(folder("a"), 6)
        datagen(folder("b"), 6, "--seed", 2)
        true(contents(folder("a")) != contents(folder("b")), "another seed gives the same games")


def chunks_of_a_thousand_games_follow_each_other():
    if SANITIZED:
        raise Skip("a thousand games take too long")
    with Folders() as folder:
        datagen(folder("a"), 1010, threads=2, limit=("--depth", "1", "--hash", "1"))
        files = contents(folder("a"))
        equal(sorted(files), ["games-000000.anvil", "games-000001.anvil"])
        equal([len(read_file(files[name])[1]) for name in sorted(files)], [1000, 10])
        equal(read_file(files["games-000001.anvil"])[0]["first"], "1000")
        checked = command("games", "--check", *sorted(folder("a").iterdir()))
        equal(checked.returncode, 0, checked.stderr)
        contains(checked.stdout, "games-000000.anvil: 1000 games, all correct")


# ---- interruptions --------------------------------------------------------------------------------

def size_of(folder):
    try:
        return sum(path.stat().st_size for path in folder.iterdir())
    except FileNotFoundError:  # not there yet, or just getting its final name
        return 0


def interrupt_when_grown(folder, by, with_signal, threads, games=GAMES):
    """Starts or resumes the run, and sends the signal once its files have grown by so many bytes. Gives its status and
    what it printed."""
    before, patience = size_of(folder), time.monotonic() + PATIENCE_S
    process = subprocess.Popen([ENGINE, *datagen_arguments(folder, games, threads=threads)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while process.poll() is None and size_of(folder) < before + by:
            true(time.monotonic() < patience, "the run does not get on")
            time.sleep(0.001)
        process.send_signal(with_signal)
        out, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out
    finally:
        process.kill()


def a_run_killed_again_and_again_ends_with_the_same_bytes():
    dice = random.Random(4)
    with Folders() as folder:
        datagen(folder("calm"))
        wanted = contents(folder("calm"))

        def kills_of_a_run(threads, number):
            """How many of the kills came while games were played. On a busy machine it may be over before."""
            wild, kills = folder(f"wild{threads}-{number}"), 0
            for _ in range(2 if SANITIZED else 8):
                status, _ = interrupt_when_grown(wild, dice.randrange(1, 3000), signal.SIGKILL, threads)
                kills += status == -signal.SIGKILL
            datagen(wild, threads=threads)
            equal(contents(wild), wanted, f"bytes with {threads} threads")
            return kills
        for threads in (1, 2):
            true(any(kills_of_a_run(threads, number) >= (1 if SANITIZED else 2) for number in range(20)), "the kills came too late")


def a_run_told_to_end_keeps_what_it_has_and_goes_on():
    for number in (signal.SIGTERM, signal.SIGINT):
        with Folders() as folder:
            status, out = interrupt_when_grown(folder("told"), 3000, number, threads=2, games=100000)
            equal(status, 130)
            contains(out, "the same command continues the run")
            whole = sum(len(read_file(data)[1]) for data in contents(folder("told")).values())
            true(whole > 0, "no game is kept")
            datagen(folder("told"), whole + 4)
            datagen(folder("calm"), whole + 4)
            equal(contents(folder("told")), contents(folder("calm")))


def a_longer_run_goes_on_behind_a_shorter_one():
    with Folders() as folder:
        datagen(folder("long"), 20)
        datagen(folder("grown"), 7)
        datagen(folder("grown"), 20)
        equal(contents(folder("grown")), contents(folder("long")))
        again = datagen(folder("grown"), 20)
        contains(again.stdout, "has 20 games")
        equal(contents(folder("grown")), contents(folder("long")), "a run that has all its games changes nothing")


def a_folder_in_use_or_of_another_run_is_refused():
    with Folders() as folder:
        datagen(folder("a"), 3)
        other = datagen(folder("a"), 5, "--seed", 9, status=1)
        contains(other.stderr, "it has 'seed 1', this run has 'seed 9'")
        other = datagen(folder("a"), 5, status=1, limit=("--depth", "2", "--hash", "1"))
        contains(other.stderr, "this run has 'limit depth 2, hash 1 MB'")
        equal(len(contents(folder("a"))), 1)
        chunk = folder("a") / "games-000000.anvil"
        data = chunk.read_bytes()
        chunk.write_bytes(re.sub(rb"\nends [^\n]*", b"\nends when both are tired", data, count=1))
        contains(datagen(folder("a"), 5, status=1).stderr, "it has 'ends when both are tired', this run has 'ends |score|")
        busy = subprocess.Popen([ENGINE, *datagen_arguments(folder("b"), 100000)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        try:
            patience = time.monotonic() + PATIENCE_S
            while not (folder("b").exists() and list(folder("b").iterdir())):
                true(time.monotonic() < patience, "the run does not begin")
                time.sleep(0.01)
            ours = os.getpriority(os.PRIO_PROCESS, 0)
            equal(os.getpriority(os.PRIO_PROCESS, busy.pid), min(ours + 10, 19), "niceness of a run")
            contains(datagen(folder("b"), 100000, status=1).stderr, "another run is using the folder")
        finally:
            busy.kill()
            busy.communicate()


# ---- options --------------------------------------------------------------------------------------

def a_book_gives_a_share_of_the_openings():
    lines = ["rnbqkb1r/pp3ppp/2p1pn2/3p4/2PP4/2N2N2/PP2PPPP/R1BQKB1R w KQkq - hmvc 0; fmvn 25;",
             "r1bqkbnr/1ppp1ppp/p1n5/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R b KQkq - hmvc 0; fmvn 25;"]
    with Folders() as folder:
        book = folder("book.epd")
        book.write_text("\n".join(lines) + "\n")
        datagen(folder("all"), 12, "--book", book, "--book-share", 100)
        datagen(folder("half"), 40, "--book", book)
        header, games = read_file(contents(folder("all"))["games-000000.anvil"])
        contains(header["openings"], hashlib.sha256(book.read_bytes()).hexdigest()[:16])
        true(all(int(fen.split()[5]) >= 25 for fen, _, _ in games), "all openings come from the book")
        _, games = read_file(contents(folder("half"))["games-000000.anvil"])
        share = sum(int(fen.split()[5]) >= 25 for fen, _, _ in games)
        true(8 <= share <= 32, f"{share} of 40 openings come from the book")
        book.write_text("nonsense\n")
        contains(datagen(folder("bad"), 1, "--book", book, status=1).stderr, "line 1")


def chess960_openings_are_from_all_over():
    with Folders() as folder:
        datagen(folder("a"), 12, "--frc")
        printed = command("games", "--pgn", *folder("a").iterdir())
        equal(printed.returncode, 0, printed.stderr)
        true(printed.stdout.count('[Variant "Chess960"]') >= 3, "games begin from other positions")
        equal(command("games", "--check", *folder("a").iterdir()).returncode, 0)


def a_run_without_a_net_says_so_and_a_missing_one_is_refused():
    with Folders() as folder:
        datagen(folder("none"), 2, "--net", "none")
        equal(read_file(contents(folder("none"))["games-000000.anvil"])[0]["net"], "none")
        contains(datagen(folder("bad"), 2, "--net", folder("missing"), status=1).stderr, "missing")


def a_net_is_named_by_its_bytes_and_plays_other_games():
    packed = pathlib.Path(os.environ.get("PATCHMATE_SHARED", "../shared"), "data", "nets", "nn-62ef826d1a6d.nnue.xz")
    if not packed.exists():
        raise Skip(f"needs {packed.name} of ../shared")
    with Folders() as folder:
        net = folder("net")
        net.write_bytes(lzma.decompress(packed.read_bytes()))
        datagen(folder("one"), 4, "--net", net)
        datagen(folder("two"), 4, "--net", net, threads=2)
        equal(contents(folder("one")), contents(folder("two")))
        datagen(folder("none"), 4, "--net", "none")
        header, games = read_file(contents(folder("one"))["games-000000.anvil"])
        equal(header["net"], hashlib.sha256(net.read_bytes()).hexdigest())
        true(games != read_file(contents(folder("none"))["games-000000.anvil"])[1], "the net plays as no net does")


def arguments_are_refused_with_the_usage():
    with Folders() as folder:
        for arguments in ([], ["--out", folder("a")], ["--games", 5], ["--out", folder("a"), "--games", 0],
                          ["--out", folder("a"), "--games", 5, "--nodes", 5, "--depth", 5],
                          ["--out", folder("a"), "--games", 5, "--wings", 2],
                          ["--out", folder("a"), "--games", 5, "--seed"]):
            done = command("datagen", *arguments)
            equal(done.returncode, 2, arguments)
            contains(done.stderr, "usage: datagen")
        true(not folder("a").exists(), "a refused run leaves no folder")
    for arguments in ([], ["--pgn"], ["--epd"], ["--wings", "x"]):
        equal(command("games", *arguments).returncode, 2)


# ---- reading --------------------------------------------------------------------------------------

def statistics_pgn_and_check_agree():
    with Folders() as folder:
        datagen(folder("a"), 40)
        path = next(folder("a").iterdir())
        _, games = read_file(path.read_bytes())
        told = command("games", path)
        equal(told.returncode, 0, told.stderr)
        contains(told.stdout, "files        1\ngames        40\n")
        plies = sum(len(moves) for _, _, moves in games)
        contains(told.stdout.replace(",", ""), f"positions    {plies} ")
        wins, draws, losses = (sum(result == r for _, result, _ in games) for r in (2, 1, 0))
        contains(told.stdout, f"+{wins} ={draws} -{losses} for White")
        correlation = float(re.search(r"correlation +(-?[\d.]+)", told.stdout).group(1))
        true(correlation > 0.4, f"scores and results agree: {correlation}")

        printed = command("games", "--pgn", path)
        equal(printed.returncode, 0, printed.stderr)
        pgn = folder("games.pgn")
        pgn.write_text(printed.stdout)
        shown = read_games(pgn)
        equal([tags["FEN"] for tags, _ in shown], [fen for fen, _, _ in games])
        equal([tags["Result"] for tags, _ in shown], [("0-1", "1/2-1/2", "1-0")[result] for _, result, _ in games])
        equal([len(moves) - 1 for _, moves in shown], [len(moves) for _, _, moves in games])
        equal([tags["Round"] for tags, _ in shown], [str(i) for i in range(40)])

        epd = [re.fullmatch(r'(\S+ [wb] \S+ \S+ \d+ \d+) ce (-?\d+); c9 "(.+)";', line)
               for line in command("games", "--epd", path).stdout.splitlines()]
        useful = round(float(re.search(r"useful +([\d.]+) %", told.stdout).group(1)) * plies / 100)
        true(all(epd) and abs(len(epd) - useful) <= plies / 1000, f"{len(epd)} positions as EPD, {useful} are useful")
        white = [int(score) * (1 if " w " in fen else -1) for fen, score, _ in map(re.Match.groups, epd)]
        scores = iter(score for _, _, moves in games for _, score in moves)
        true(all(score in scores for score in white), "the scores are not those of the games, in their order")
        judged = command("eval", "--net", "none", text="".join(match.group(0) + "\n" for match in epd[:5]))
        equal((judged.returncode, len(judged.stdout.splitlines())), (0, 5), judged.stderr)

        checked = command("games", "--check", path)
        equal(checked.returncode, 0, checked.stderr)
        contains(checked.stdout, "40 games, all correct")


def with_game(data, index, change):
    """The file with the payload of one record changed and its sum made right."""
    end = data.index(b"\n\n") + 2
    out, rest, number = data[:end], data[end:], 0
    while rest:
        length = struct.unpack_from("<I", rest)[0]
        payload, rest = rest[8:8 + length], rest[8 + length:]
        payload = change(payload) if number == index else payload
        out += struct.pack("<II", len(payload), zlib.crc32(payload)) + payload
        number += 1
    return out


def damage_is_found_and_named():
    def result_to(value):
        return lambda payload: payload.replace(payload[payload.index(b"\0"):][:2], bytes([0, value]), 1)

    with Folders() as folder:
        datagen(folder("a"), 12)
        path = next(folder("a").iterdir())
        whole = path.read_bytes()
        wins = [i for i, (_, result, _) in enumerate(read_file(whole)[1]) if result == 2]
        true(wins, "White won a game")
        for data, reason in ((whole[:-5], "after 11 games: the file ends within the record"),
                             (whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:],
                              "after 11 games: the checksum is wrong"),
                             (with_game(whole, wins[0], result_to(0)), f"game {wins[0]} has the result 0-1"),
                             (with_game(whole, 3, lambda p: p[:-4] + b"\0\0" + p[-2:]), "is not legal"),
                             (b"chess games 1\n" + whole, "not a game file")):
            path.write_bytes(data)
            checked = command("games", "--check", path)
            equal(checked.returncode, 1, reason)
            contains(checked.stderr, reason)
        path.write_bytes(whole[:-5])
        datagen(folder("a"), 12)
        equal(path.read_bytes(), whole, "a chunk that was cut is played to its end again")


if __name__ == "__main__":
    run(two_threads_write_the_bytes_of_one, a_file_has_the_described_format, another_seed_is_another_run,
        chunks_of_a_thousand_games_follow_each_other, a_run_killed_again_and_again_ends_with_the_same_bytes,
        a_run_told_to_end_keeps_what_it_has_and_goes_on, a_longer_run_goes_on_behind_a_shorter_one,
        a_folder_in_use_or_of_another_run_is_refused, a_book_gives_a_share_of_the_openings,
        chess960_openings_are_from_all_over, a_run_without_a_net_says_so_and_a_missing_one_is_refused,
        a_net_is_named_by_its_bytes_and_plays_other_games,
        arguments_are_refused_with_the_usage, statistics_pgn_and_check_agree, damage_is_found_and_named)
