#!/usr/bin/python3
"""The command line of build/match: the words of its peers (their own output lies in tests/data/match),
tournaments, what engines are told, every file it writes, and what it refuses."""
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, "tests/kit_py")
from builds import MATCH, TOY, USUAL  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

ENGINE = USUAL / "engine"
FOLDER = tempfile.TemporaryDirectory(prefix="match-cli-")
HERE = pathlib.Path(FOLDER.name)
DATA = pathlib.Path("tests/data/match")
FINISHED = re.compile(r"Finished game (\d+) \((.*) vs (.*)\): (\S+) \{(.*)\}")

# A UCI engine in a few lines: writes down what it is told, and says what the test wants of it.
SCRIPT = """#!/usr/bin/python3
import sys
told, moves, before = open(sys.argv[1], "a"), sys.argv[2].split(","), sys.argv[3]
n = 0
for line in sys.stdin:
    print(line.strip(), file=told, flush=True)
    word = line.split()[0]
    if word == "uci": print("id name Script", "option name Clear Hash type button", "uciok", sep="\\n", flush=True)
    if word == "isready": print("readyok", flush=True); print("ready again", file=sys.stderr, flush=True)
    if word == "ucinewgame": n = 0
    if word == "go": print(before, "bestmove " + moves[n % len(moves)], sep="\\n", flush=True); n += 1
    if word == "quit": break
"""


def write(name, text):
    path = HERE / name
    path.write_text(text)
    return path


def toy(name, *words):
    return ["-engine", f"cmd={TOY}", f"name={name}", *words]


def two(*each):
    return [*toy("A", "option.Seed=1"), *toy("B", "option.Seed=2"), "-each", *(each or ["tc=60"])]


def match(*argv, status=0, cwd=None):
    done = subprocess.run([MATCH, *map(str, argv)], capture_output=True, timeout=120 * LOAD_FACTOR, cwd=cwd)
    equal(done.returncode, status, f"status of {argv[-4:]}: {done.stdout.decode()[-900:]}{done.stderr.decode()}")
    return done.stdout.decode(), done.stderr.decode()


def games_of(out):
    return [found.groups() for found in FINISHED.finditer(out)]


def tags_of(path):
    blocks = re.split(r"\n\n(?=\[)", path.read_text().strip())
    return [dict(re.findall(r'^\[(\w+) "(.*)"\]$', block, re.M)) for block in blocks]


def scripted(told, moves="e2e4", before="info depth 1", *words):
    script = write("script.py", SCRIPT)
    return ["-engine", "cmd=/usr/bin/python3", "name=S", f"arg={script}", f"arg={HERE / told}",
            f"arg={moves}", f"arg={before}", *words]


# ---- the peers' words ------------------------------------------------------------------------------

def form(line):
    """A line with its numbers (but not how many decimals they have), results and reasons taken out."""
    line = re.sub(r"\{.*\}", "{reason}", line)
    line = re.sub(r"(1-0|0-1|1/2-1/2) \{", "result {", line)
    line = re.sub(r"\(10\+0.1,.*\):$", "(details):", line)
    line = re.sub(r"0x[0-9a-f]{8}", "0xSUM", line)
    line = re.sub(r"H[01] was", "H was", line)
    line = re.sub(r"written to \S+", "written to FILE", line)
    line = re.sub(r"\binf\b|\bnan\b", "0.00", line)
    line = line.replace("(B vs A)", "(A vs B)")
    return re.sub(r"-?\d+(\.\d+)?", lambda found: "N" + "d" * (len(found[1]) - 1 if found[1] else 0), line)


def has_forms_of(recorded, out, own=()):
    wanted = [form(line) for line in (DATA / recorded).read_text().splitlines()]
    got = [form(line) for line in out.splitlines()]
    for line in wanted:
        true(line in got, f"no line of the form {line!r} in:\n{out[-2500:]}")
    strange = {line for line in got if line not in wanted and not line.startswith(own)}
    true(not strange, f"forms that {recorded} does not have: {strange}")


SPRT = ["-rounds", "500", "-maxmoves", "9", "-sprt", "elo0=0", "elo1=30", "model=logistic"]


def won_by_a():
    """A meets an engine that plays on until it makes an illegal move; some games are drawn before."""
    return [*toy("A", "option.Seed=1", "option.Hash=16"), *toy("B", "args=illegal 6", "option.Hash=16"),
            "-each", "tc=10+0.1"]


def fastchess_reads_as_fastchess():
    book = write("b.epd", "4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1\n")
    pgn = HERE / "words.pgn"
    out, _ = match(*won_by_a(), *SPRT, "-openings", f"file={book}", "-ratinginterval", "3",
                   "-pgnout", f"file={pgn}", "-crc32", "pgn=true")
    has_forms_of("fastchess.txt", out, own=("Total: ", "Faults of ", "Clock: "))


def cutechess_reads_as_cutechess():
    out, _ = match(*won_by_a(), *SPRT, "-output", "format=cutechess", "-ratinginterval", "0")
    out = re.sub(r"llr \S+", "llr 2.95", out)  # three significant digits, as printf's %g has it
    has_forms_of("cutechess.txt", out.replace("SPRT ([", "Clock: ["), own=("Clock: ", "SPRT: llr"))
    equal(out.count("Score of A vs B: "), len(games_of(out)), "a score after every game")


def score_interval_is_kept():
    out, _ = match(*two(), "-rounds", "5", "-maxmoves", "2", "-output", "format=cutechess",
                   "-scoreinterval", "4")
    equal(re.findall(r"Score of .*\] (\d+)", out), ["4", "8"])


def columns(line):
    return [found.end() for found in re.finditer(r"\[.*\]|\S+", line)]


def ranks_stand_in_the_peers_columns():
    for recorded, style in (("fastchess_ranks.txt", "fastchess"), ("cutechess_ranks.txt", "cutechess")):
        out, _ = match(*two(), *toy("C", "args=illegal 0"), "-rounds", "2", "-maxmoves", "4",
                       "-output", f"format={style}", "-ratinginterval", "0")
        wanted = (DATA / recorded).read_text().splitlines()
        head = next(i for i, line in enumerate(wanted) if line.startswith("Rank"))
        got = out.splitlines()
        start = got.index(wanted[head])
        rows = got[start + 1:start + 4]
        equal([row.split()[0] for row in rows], ["1", "2", "3"], "ranks")
        equal(rows[2].split()[1], "C", "the last")
        for row in rows:  # names have no fixed end
            equal(columns(row)[2:], columns(wanted[head + 1])[-len(columns(row)[2:]):], row)


# ---- tournaments -----------------------------------------------------------------------------------

def meetings(*argv):
    out, _ = match(*toy("A"), *toy("B"), *toy("C"), *toy("D"), "-each", "tc=60", "-maxmoves", "1",
                   "-ratinginterval", "0", *argv)
    return [f"{white}{black}" for _, white, black, _, _ in games_of(out)]


def in_a_round_robin_everybody_meets_everybody():
    equal(meetings("-games", "2"), ["AB", "BA", "AC", "CA", "AD", "DA", "BC", "CB", "BD", "DB", "CD", "DC"])
    equal(meetings("-games", "1", "-rounds", "2"),
          ["AB", "AC", "AD", "BC", "BD", "CD", "BA", "CA", "DA", "CB", "DB", "DC"])


def in_a_gauntlet_the_seeds_meet_the_others():
    equal(meetings("-tournament", "gauntlet", "-games", "1"), ["AB", "AC", "AD"])
    equal(meetings("-tournament", "gauntlet", "-seeds", "2", "-games", "1"), ["AC", "AD", "BC", "BD"])
    equal(meetings("-tournament", "gauntlet", "-reverse", "-games", "1"), ["BA", "CA", "DA"])


def a_round_plays_one_opening():
    book = write("many.epd", "".join(f"4k3/8/8/8/8/8/4P3/4K3 w - - 0 {i}\n" for i in range(1, 9)))
    pgn = HERE / "rounds.pgn"
    match(*two(), *toy("C"), "-rounds", "4", "-maxmoves", "1", "-openings", f"file={book}",
          "order=random", "-srand", "3", "-pgnout", pgn, "-concurrency", "2")
    tags = tags_of(pgn)
    fens = {round_: {t["FEN"] for t in tags if t["Round"] == str(round_)} for round_ in range(1, 5)}
    equal([len(f) for f in fens.values()], [1, 1, 1, 1], "openings of each round")
    equal(len(set.union(*fens.values())), 4, "different openings")
    equal([t["Round"] for t in tags], [str(1 + i // 6) for i in range(24)], "rounds in the file's order")


def quick_is_a_match_of_two():
    book = write("q.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n")
    out, _ = match("-quick", f"cmd={TOY}", f"cmd={TOY}", f"book={book}", "-rounds", "1", "-maxmoves", "2")
    equal([g[1:3] for g in games_of(out)], [("toy", "toy-2"), ("toy-2", "toy")])
    contains(out, "Score of toy vs toy-2: ")


# ---- openings --------------------------------------------------------------------------------------

def packed_books_and_polyglot_books_are_read():
    packed = HERE / "p.epd.gz"
    packed.write_bytes(gzip.compress(b"4k3/8/8/8/8/8/4P3/4K3 w - - 0 7\n"))
    pgn = HERE / "packed.pgn"
    match(*two(), "-maxmoves", "1", "-openings", f"file={packed}", "-pgnout", pgn)
    equal(tags_of(pgn)[0]["FEN"], "4k3/8/8/8/8/8/4P3/4K3 w - - 0 7")
    book = HERE / "book.bin"
    move = (4 | 3 << 3) | (4 | 1 << 3) << 6
    book.write_bytes(struct.pack(">QHHI", 0x463B96181691FC9C, move, 1, 0))
    lines = HERE / "line.pgn"
    match(*two(), "-maxmoves", "1", "-openings", f"file={book}", "plies=8", "-pgnout", lines)
    contains(lines.read_text(), "1. e4 {book}")


# ---- what engines are told -------------------------------------------------------------------------

def buttons_are_pressed_and_first_words_said():
    match(*scripted("told", "e2e4", "info depth 1", "option.Clear Hash", r"initstr=debug on\nhello"),
          *toy("T"), "-each", "tc=60", "-games", "1", "-maxmoves", "1")
    told = (HERE / "told").read_text().splitlines()
    equal(told[:5], ["uci", "setoption name Clear Hash", "debug on", "hello", "isready"])


def an_engine_of_engines_json_plays():
    folder = HERE / "conf"
    folder.mkdir()
    (folder / "engines.json").write_text(json.dumps([
        {"name": "Conf", "command": str(TOY), "protocol": "uci", "options": [{"name": "Seed", "value": 3}]}]))
    out, _ = match("-engine", "conf=Conf", *toy("T"), "-each", "tc=60", "-maxmoves", "1", cwd=folder)
    contains(out, "(Conf vs T)")
    _, err = match("-engine", "conf=Unknown", *toy("T"), "-each", "tc=60", status=2, cwd=folder)
    contains(err, "-engine conf=Unknown: engines.json: no engine is called Unknown")


def quoted_arguments_stay_together():
    script = write("arguments.sh", f'#!/bin/sh\nprintf "%s\\n" "$@" >"{HERE}/arguments"\nexec "{TOY}"\n')
    script.chmod(0o755)
    match("-engine", f"cmd={script}", "name=Q", 'args=one "two words" \\"three', *toy("T"), "-each", "tc=60",
          "-maxmoves", "1")
    equal((HERE / "arguments").read_text().splitlines(), ["one", "two words", '"three'])


# ---- files -----------------------------------------------------------------------------------------

def stderr_of_an_engine_is_kept():
    match(*scripted("t2", "e2e4", "info depth 1", f"stderr={HERE}/said"), *toy("T"), "-each", "tc=60",
          "-games", "1", "-maxmoves", "1")
    equal(set((HERE / "said").read_text().splitlines()), {"ready again"})


def a_log_has_both_sides_of_every_conversation():
    log = HERE / "log.txt"
    match(*two(), "-games", "1", "-maxmoves", "1", "-log", f"file={log}", "engine=true", "realtime=true")
    text = log.read_text()
    for wanted in (r"^ +\d+\.\d{6} \[0\] A > uci$", r"^ +\d+\.\d{6} \[0\] B < uciok$",
                   r"^ +\d+\.\d{6} \[0\] A < bestmove \w+", r" info  started game 1: A vs B$",
                   r" info  finished game 1: 1/2-1/2 \{Draw by adjudication: maximum length\}$"):
        true(re.search(wanted, text, re.M), f"{wanted} is not in\n{text[:2000]}")
    packed = HERE / "log.gz"
    match(*two(), "-games", "1", "-maxmoves", "1", "-log", f"file={packed}", "level=trace", "compress=true")
    contains(gzip.open(packed, "rt").read(), "A > ucinewgame")
    quiet = HERE / "quiet.txt"
    match(*two(), "-games", "1", "-maxmoves", "1", "-log", f"file={quiet}", "level=warn")
    equal(quiet.read_text(), "")


def debug_shows_it_as_cutechess_does():
    out, _ = match(*two(), "-games", "1", "-maxmoves", "1", "-debug")
    true(re.search(r"^\d+ >A\(0\): uci$", out, re.M) and re.search(r"^\d+ <B\(0\): uciok$", out, re.M), out[:800])


def json_lines_tell_all_of_a_match():
    path = HERE / "all.jsonl"
    match(*won_by_a(), "-rounds", "12", "-maxmoves", "9", "-ratinginterval", "5", "-jsonout", path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    equal([line["type"] for line in lines],
          ["start"] + ["game"] * 10 + ["report"] + ["game"] * 10 + ["report"] + ["game"] * 4 + ["end"])
    equal(lines[0]["engines"], ["A", "B"])
    games = [line for line in lines if line["type"] == "game"]
    lost = [game for game in games if game["end"] == "illegal"]
    true(lost and all(game["culprit"] == "B" for game in lost), "culprits")
    contains(lost[0]["white_protocol_log"] + lost[0]["black_protocol_log"], "bestmove e2e5")
    for game in games:
        sizes = {len(game[name]) for name in ("moves", "times_us", "scores", "depths", "seldepths", "nodes",
                                              "latencies_us", "delays_us", "cpus_us")}
        equal(len(sizes), 1, "sizes of a game's arrays")
    score = lines[-1]["scores"][0]
    equal(score["wins"] + score["losses"] + score["draws"], 24)
    equal(lines[-1]["clock"]["moves"], sum(len(game["moves"]) for game in games))
    equal((score["engine"], score["faults"], lines[-1]["ending"]), ("A", [0, len(lost)], "finished"))


def the_crc_is_that_of_the_file():
    pgn = HERE / "crc.pgn"
    for _ in range(2):  # the second time there are games in it
        out, _ = match(*two(), "-rounds", "3", "-maxmoves", "9", "-pgnout", pgn, "-crc32", "pgn=true")
        contains(out, f"Games written to {pgn} with CRC32: 0x{zlib.crc32(pgn.read_bytes()):08x}\n")
    match(*two(), "-maxmoves", "1", "-pgnout", f"file={pgn}", "append=false")
    equal(len(tags_of(pgn)), 2, "games of a file that is not appended to")
    match(*two(), "-maxmoves", "1", "-pgnout", pgn, "min")
    true("{" not in pgn.read_text().split("[Event")[-1], "comments in a minimal file")


def games_end_up_in_order_whichever_ended_first():
    pgn, ends = HERE / "order.pgn", HERE / "order.epd"
    match(*two(), "-rounds", "40", "-concurrency", "2", "-maxmoves", "30", "-pgnout", pgn, "-epdout", ends)
    equal([(t["Round"], t["White"]) for t in tags_of(pgn)],
          [(str(r), white) for r in range(1, 41) for white in "AB"])
    equal(len(ends.read_text().splitlines()), 80)


def a_full_disk_ends_the_match_and_says_so():
    _, err = match(*two(), "-rounds", "50", "-maxmoves", "9", "-pgnout", "file=/dev/full", status=1)
    contains(err, "match: cannot write /dev/full: No space left on device")


# ---- the clock -------------------------------------------------------------------------------------

def latencies_are_shown():
    out, _ = match(*scripted("t3", "e2e4,d2d4", "info depth 1 time 1 score cp 5"), *toy("T"), "-each", "tc=60",
                   "-games", "1", "-maxmoves", "2", "-show-latency")
    found = re.findall(r"^Engine S latency: (-?\d+)ms \(elapsed: (\d+), reported: 1\)$", out, re.M)
    equal(len(found), 2, out)
    true(all(int(latency) <= int(elapsed) for latency, elapsed in found), found)
    true(re.search(r"^Clock: 4 moves, latency median \d+\.\d ms", out, re.M), out)


def a_pause_is_kept_between_games():
    began = time.monotonic()
    match(*two(), "-rounds", "2", "-maxmoves", "1", "-wait", "200")
    true(time.monotonic() - began >= 0.6, "there was no pause between four games")


def slots_below_one_count_from_the_cpus():
    out, err = match(*two(), "-rounds", "4", "-maxmoves", "9", "-concurrency", "0")
    equal((len(games_of(out)), err), (8, ""))
    match(*two(), "-rounds", "1", "-maxmoves", "9", "-concurrency", "-1000", "-use-affinity",
          str(min(os.sched_getaffinity(0))))
    _, err = match(*two(), "-rounds", "1", "-maxmoves", "1", "-concurrency", "300")
    contains(err, "300 games at a time on ")
    _, err = match(*two(), "-rounds", "1", "-maxmoves", "1", "-concurrency", "300", "-force-concurrency")
    equal(err, "")


# ---- lines that cannot be right --------------------------------------------------------------------

def a_strict_match_ends_at_the_first_line_that_cannot_be_right():
    wrong = ["t4", "e2e4", "info depth 3 score cp 5 pv e2e5"]
    out, err = match(*scripted(*wrong), *toy("T"), "-each", "tc=60", "-games", "1", "-maxmoves", "1",
                     "-check-pvs")
    true("Warning; game 1 (S vs T): " in err and "Finished match" in out, err)
    _, err = match(*scripted(*wrong), *toy("T"), "-each", "tc=60", "-rounds", "9", "-maxmoves", "1", "-strict",
                   status=1)
    contains(err, "match: -strict: game 1: ")


def what_an_engine_says_wrong_is_counted_at_the_end():
    out, _ = match(*toy("A", "args=wrongpv 3"), *toy("B", "args=noscore 4"), "-each", "tc=60", "-rounds", "1",
                   "-maxmoves", "5")
    contains(out, "Output of A: wrong about 4 of 10 moves: 4 with an illegal move in the PV\n")
    contains(out, "Output of B: wrong about 2 of 10 moves: 2 with no score or no depth\n")


def anvil_says_nothing_wrong():
    for limit in ("nodes=700", "depth=4", "st=0.01"):
        out, _ = match("-engine", f"cmd={ENGINE}", "name=A", "-engine", f"cmd={ENGINE}", "name=B", "option.MultiPV=2",
                       "-each", limit, "-rounds", "4", "-maxmoves", "60")
        true("Finished match" in out and "Output of" not in out, out[-1500:])


# ---- options ---------------------------------------------------------------------------------------

def an_unsupported_option_is_refused_with_the_reason():
    for words, wanted in ((["-tb", "/x"], "-tb: adjudication by Syzygy tables is not supported"),
                          (["-each", "proto=xboard"], "proto expects uci, the only supported protocol"),
                          (["-sprt", "model=bayesian"], "bayesian Elo depends on the draw ratio"),
                          (["-each", "ponder"], "-each ponder: is not of the form key=value"),
                          (["-each", "book=b.bin"], "book expects false; use -openings file=BOOK.bin"),
                          (["-ratingintervall", "5"], "did you mean -ratinginterval?"),
                          (["-pgnout", "file=x", "notatoin=uci"], "no such key; did you mean notation=?"),
                          (["-concurrency", "5000"], "-concurrency 5000: expects a whole number up to 1024"),
                          (["-use-affinity", "3-1"], "-use-affinity 3-1: expects nothing, or a list of CPUs"),
                          (["-rounds", "3", "4"], "-rounds 4: unexpected word"),
                          (["-pgnout", "x", "-epdout", "x"], "-epdout x: -pgnout already uses this file"),
                          (["-engine"], "-engine expects key=value...")):
        _, err = match(*two(), *words, status=2)
        contains(err, wanted)


def help_names_every_option_and_fits_a_terminal():
    out, _ = match("--help")
    true(max(map(len, out.splitlines())) <= 100, "lines over 100 columns")
    source = pathlib.Path("worker/match_cli/options.c").read_text()
    names = re.findall(r'(?:ENGINE|KEYS|ALONE\(\w+)\("(-[\w-]+)"', source)
    true(len(names) > 40, f"only {len(names)} options found")
    hidden = {"-help", "--help", "-h", "-version", "--version", "-v", "-seed", "-check-mate-pvs", "-recover"}
    for name in set(names) - hidden:
        true(re.search(rf"(^|[\s(.]){name}\b", out), f"{name} is not in --help")
    contains(match("--version")[0], "Patchmate")
    contains(match(status=2)[1], "ENGINES")


if __name__ == "__main__":
    run(fastchess_reads_as_fastchess, cutechess_reads_as_cutechess, score_interval_is_kept,
        ranks_stand_in_the_peers_columns, in_a_round_robin_everybody_meets_everybody,
        in_a_gauntlet_the_seeds_meet_the_others, a_round_plays_one_opening, quick_is_a_match_of_two,
        packed_books_and_polyglot_books_are_read, buttons_are_pressed_and_first_words_said,
        an_engine_of_engines_json_plays, quoted_arguments_stay_together, stderr_of_an_engine_is_kept,
        a_log_has_both_sides_of_every_conversation, debug_shows_it_as_cutechess_does,
        json_lines_tell_all_of_a_match, the_crc_is_that_of_the_file,
        games_end_up_in_order_whichever_ended_first, a_full_disk_ends_the_match_and_says_so,
        latencies_are_shown, a_pause_is_kept_between_games, slots_below_one_count_from_the_cpus,
        a_strict_match_ends_at_the_first_line_that_cannot_be_right,
        what_an_engine_says_wrong_is_counted_at_the_end, anvil_says_nothing_wrong,
        an_unsupported_option_is_refused_with_the_reason, help_names_every_option_and_fits_a_terminal)
