#!/usr/bin/python3
"""build/match with real processes: order, clocks, adjudication, PGN, SPRT, options, interruption. What engines do wrong
is in test_faults.py."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from builds import MATCH, TOY  # noqa: E402
from server import still_there, wait_until  # noqa: E402
from tap import LOAD_FACTOR, Checks  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="match-test-")
OWN_TOY = f"{FOLDER.name}/toy"  # a name of our own, so that survivors can be told from others' engines
FINISHED = re.compile(r"Finished game (\d+) \((.*) vs (.*)\): (\S+) \{(.*)\}")

RECORDER = """#!/usr/bin/python3
import sys
log = open(sys.argv[1], "a")
print("start", file=log, flush=True)
moves = iter(sys.argv[2:])
for line in sys.stdin:
    print(line.strip(), file=log, flush=True)
    word = line.split()[0]
    if word == "uci": print("uciok", flush=True)
    if word == "isready": print("readyok", flush=True)
    if word == "ucinewgame": moves = iter(sys.argv[2:])
    if word == "go": print("bestmove", next(moves, "0000"), flush=True)
    if word == "quit": break
"""


tap = Checks()


class Played:
    """A match that has ended: its status, its output and its games as (white, black, result, why)."""

    def __init__(self, *args, limit_s=300):
        run = subprocess.run([MATCH, *args], capture_output=True, timeout=limit_s * LOAD_FACTOR)
        self.status = run.returncode
        self.out = run.stdout.decode()
        self.err = run.stderr.decode()
        self.text = self.out + self.err
        self.games = [m.groups()[1:] for m in FINISHED.finditer(self.out)]
        self.numbers = [int(m.group(1)) for m in FINISHED.finditer(self.out)]


def engine(name, *words, cmd=None):
    return ["-engine", f"cmd={cmd or OWN_TOY}", f"name={name}", *words]


def two(*each):
    return [*engine("A", "option.Seed=1"), *engine("B", "option.Seed=2"),
            "-each", *(each or ["tc=100+1"])]


def path(name):
    return f"{FOLDER.name}/{name}"


def write(name, text):
    with open(path(name), "w", encoding="utf-8") as f:
        f.write(text)
    return path(name)


def read(name):
    with open(path(name), encoding="utf-8") as f:
        return f.read()


def survivors():
    """Processes whose command line names our folder, zombies excepted."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if FOLDER.name in line and int(pid) != os.getpid():
            found.append(f"{pid} {line}")
    return found


def pgn_games(name):
    """[(tags, moves without comments)] of a file that match has written."""
    games = []
    for block in re.split(r"\n\n(?=\[)", read(name).strip()):
        tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', block, re.M))
        text = re.sub(r"\{[^}]*\}", " ", block[block.rindex("]\n") + 2:])
        games.append((tags, [w for w in text.split() if not re.match(r"\d+\.", w)]))
    return games


# ---- the flag -----------------------------------------------------------------------------------

def test_flag_against_bare_king():
    book = write("bare.epd", "7k/8/8/8/8/8/P7/K7 w - - 0 1\n")
    played = Played(*engine("Bad", "arg=hanggo", "tc=0.1"), *engine("Ok", "tc=60+1"), "-games", "1",
                    "-openings", f"file={book}")
    tap.same(played.games[0][2:], ("1/2-1/2", "Draw: White ran out of time, Black cannot mate"),
             "a side that cannot mate does not win on time", played.text)


def test_margin():
    late = engine("Late", "args=late 0", "st=0.5", "timemargin=60000")
    played = Played(*late, *engine("Ok", "st=60"), "-games", "1", "-maxmoves", "1")
    tap.same(played.games[0][2], "1/2-1/2", "the margin is forgiven", played.text)


# ---- order and determinism -----------------------------------------------------------------------

def test_concurrency():
    lists = []
    for slots in ("1", "2"):
        name = f"slots{slots}.pgn"
        played = Played(*two(), "-rounds", "8", "-concurrency", slots, "-maxmoves", "40",
                        "-pgnout", f"file={path(name)}")
        games = [(int(tags["Round"]), tags["White"], tags["Result"], moves)
                 for tags, moves in pgn_games(name)]
        lists.append(sorted(games))
        tap.same(sorted(played.numbers), list(range(1, 17)), f"every game once with {slots} slots")
    tap.same(lists[0], lists[1], "one slot and two play the same games")


def test_pairs_and_colours():
    book = write("two.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n"
                            "4k3/4p3/8/8/8/8/8/4K3 b - - 0 1 hmvc 3; fmvn 7;\n")
    name = "pairs.pgn"
    played = Played(*two(), "-rounds", "3", "-openings", f"file={book}", "format=epd",
                    "order=sequential", "-maxmoves", "3", "-pgnout", f"file={path(name)}")
    games = pgn_games(name)
    tap.same([(t["White"], t["Round"]) for t, _ in games],
             [("A", "1"), ("B", "1"), ("A", "2"), ("B", "2"), ("A", "3"), ("B", "3")],
             "a pair is one opening with colours reversed", played.text)
    tap.same([t["FEN"] for t, _ in games[2:4]], ["4k3/4p3/8/8/8/8/8/4K3 b - - 3 7"] * 2,
             "an EPD's move counters are kept")
    tap.same(games[0][0]["FEN"], games[4][0]["FEN"], "a short book starts again")
    played = Played(*two(), "-rounds", "4", "-games", "1", "-maxmoves", "3")
    tap.same([g[0] for g in played.games], ["A", "B", "A", "B"], "single games change colours")
    played = Played(*two(), "-rounds", "2", "-noswap", "-maxmoves", "3")
    tap.same([g[0] for g in played.games], ["A"] * 4, "-noswap keeps them")


def test_random_order():
    book = write("many.epd", "".join(f"4k3/8/8/8/8/8/4P3/4K3 w - - 0 {i}\n" for i in range(1, 41)))

    def order(*words):
        name = f"random{len(os.listdir(FOLDER.name))}.pgn"
        Played(*two(), "-rounds", "40", "-games", "1", "-maxmoves", "1", "-openings",
               f"file={book}", *words, "-pgnout", f"file={path(name)}")
        return [int(t["FEN"].split()[-1]) for t, _ in pgn_games(name)]
    first, same = order("order=random", "-srand", "7"), order("order=random", "-srand", "7")
    tap.same(sorted(first), list(range(1, 41)), "a random order uses every opening once")
    tap.check(first == same and first != sorted(first) and first != order("order=random"),
              "the order depends on the seed alone", first)
    tap.same(order("order=sequential", "start=39")[:3], [39, 40, 1], "start= counts from one")


# ---- what engines are told -----------------------------------------------------------------------

def recorded(name, limit_a, limit_b, *more):
    script = write("recorder.py", RECORDER)
    log = path(name)
    played = Played(*engine("R", f"arg={script}", f"arg={log}", "arg=e2e4", "arg=d2d4", limit_a,
                            cmd="/usr/bin/python3"),
                    *engine("T", limit_b), "-games", "1", "-maxmoves", "2", "-noswap", *more)
    return read(name).splitlines(), played


def test_commands():
    lines, played = recorded("log1", "tc=40/10+0.1", "tc=20+0.25")
    tap.same(lines[:7], ["start", "uci", "isready", "ucinewgame", "isready", "position startpos",
                         "go wtime 10100 btime 20250 winc 100 binc 250 movestogo 40"],
             "the clocks of both sides are told, with the increment of the first move", played.text)
    tap.check(lines[7].startswith("position startpos moves e2e4 ") and "movestogo 39" in lines[8],
              "the game so far follows, and the period counts down", lines)
    lines, _ = recorded("log2", "nodes=123456", "tc=10")
    tap.same(lines[6], "go nodes 123456", "an engine without a clock is not told of any")
    lines, _ = recorded("log3", "st=2.5", "tc=10")
    tap.same(lines[6], "go movetime 2500", "st= is a time for each move")
    lines, _ = recorded("log4", "tc=1:0.5", "tc=10", "-rounds", "2")
    tap.same(lines[6], "go wtime 60500 btime 10000", "minutes and seconds")
    tap.same((lines.count("start"), lines.count("ucinewgame"), lines.count("isready")), (1, 2, 3),
             "one process plays all games and is asked isready only before a game")
    lines, _ = recorded("log5", "tc=10", "tc=10", "-rounds", "2", "-each", "restart=on")
    tap.same(lines.count("start"), 2, "restart=on gives every game a new process")


def test_undeclared_option():
    played = Played(*engine("A", "option.Nonsense=3"), *engine("B"), "-each", "tc=10", "-maxmoves", "1")
    tap.check(played.status == 0 and "A does not have the option Nonsense" in played.err,
              "an option that the engine does not have is pointed out", played.err)


# ---- adjudication --------------------------------------------------------------------------------

def adjudicated(score_a, score_b, *rules, fen="k6n/8/8/8/8/8/8/N6K w - - 0 1"):
    book = write("adj.epd", fen + "\n")
    name = f"adj{len(os.listdir(FOLDER.name))}.pgn"
    played = Played(*engine("A", f"option.Score={score_a}"), *engine("B", f"option.Score={score_b}"),
                    "-each", "tc=60", "-rounds", "1", "-maxmoves", "10", "-openings", f"file={book}",
                    *rules, "-pgnout", f"file={path(name)}")
    return [(game[0], game[2], int(tags["PlyCount"]))
            for game, (tags, _) in zip(played.games, pgn_games(name))]


def test_adjudication():
    resign = ["-resign", "movecount=3", "score=600"]
    draw = ["-draw", "movenumber=2", "movecount=2", "score=10"]
    ends_at = lambda a, b: [("A", "0-1", a), ("B", "1-0", b)]
    drawn_at = lambda n: [("A", "1/2-1/2", n), ("B", "1/2-1/2", n)]
    tap.same(adjudicated("-600", "0", *resign), ends_at(5, 6), "a side resigns after its third bad score")
    tap.same(adjudicated("-599", "0", *resign), drawn_at(20), "a score above the limit does not")
    tap.same(adjudicated("m-3", "0", *resign), ends_at(5, 6), "being mated is bad enough")
    tap.same(adjudicated("-700,-700,0,-700", "0", *resign), ends_at(11, 12), "the three come in a row")
    tap.same(adjudicated("-700,-700,none,-700", "0", *resign), ends_at(11, 12), "a missing score breaks the row")
    tap.same(adjudicated("-700", "599", *resign, "twosided=true"), drawn_at(20), "two-sided: both must see it")
    tap.same(adjudicated("-700", "700", *resign, "twosided=true"), ends_at(7, 6), "two-sided: when both do")
    tap.same(adjudicated("10", "-10", *draw), drawn_at(4), "a draw after two level moves of both")
    tap.same(adjudicated("11", "0", *draw), drawn_at(20), "a score beyond the limit is not level")
    tap.same(adjudicated("m9", "0", *draw), drawn_at(20), "a mate is never level")
    tap.same(adjudicated("0", "0", "-draw", "movenumber=5", "movecount=2", "score=10"), drawn_at(10),
             "no draw before its move number")
    tap.same(adjudicated("none", "0", *draw), drawn_at(20), "no draw without scores")


PLAYED_ON = re.compile(r"Played on game \d+ \((.*) vs .*\): (\S+) by adjudication, then (\S+) \{(.*)\}")
AUDIT = re.compile(r"Adjudication: (.*); the rules saved (.*) % of the thinking time")


def played_on(score, *rules, script="f2f3 e7e5 g2g4 d8h4", seeds=(1, 2)):
    """One game, whose first engine has White: the rule's result and the game's own, and the words of the report."""
    played = Played(*engine("A", f"option.Score={score[0]}", f"option.Seed={seeds[0]}"),
                    *engine("B", f"option.Score={score[1]}", f"option.Seed={seeds[1]}"),
                    "-each", "tc=60+1", *([f"option.Script={script}"] if script else []), "-rounds", "1", "-games", "1", *rules, "-playon", "100")
    found, audit = PLAYED_ON.findall(played.out), AUDIT.search(played.out)
    return [game[2] for game in played.games], [game[1:] for game in found], audit.group(1) if audit else played.text


def test_played_on():
    resign, draw = ["-resign", "movecount=1", "score=600"], ["-draw", "movenumber=1", "movecount=1", "score=10"]
    mate = "0-1", "Black mates"
    tap.same(played_on(("-700", "0"), *resign), (["0-1"], [("0-1", *mate)],
             "1 games played on; 1 won by rule, 0 of them wrong; 0 drawn by rule, 0 of them wrong; 0 without an end"),
             "a game that a rule ended is played on, and the rule was right")
    tap.same(played_on(("0", "-700"), *resign), (["1-0"], [("1-0", *mate)],
             "1 games played on; 1 won by rule, 1 of them wrong; 0 drawn by rule, 0 of them wrong; 0 without an end"),
             "a wrong win is found, and the result remains that of the rule")
    tap.same(played_on(("0", "0"), *draw, script="g1f3 g8f6 f3g1 f6g8 f2f3 e7e5 g2g4 d8h4"), (["1/2-1/2"], [("1/2-1/2", *mate)],
             "1 games played on; 0 won by rule, 0 of them wrong; 1 drawn by rule, 1 of them wrong; 0 without an end"),
             "and a wrong draw")
    tap.same(played_on(("50", "50"), *resign, *draw)[:2], (["0-1"], []), "a game that the rules of chess ended is not")
    tap.same(played_on(("0", "0"), "-maxmoves", "2", script=None, seeds=(7, 97))[1], [("1/2-1/2", "*", "No end within 400 plies")],
             "400 plies are the end")


# ---- PGN, SPRT, Chess960 -------------------------------------------------------------------------

def test_pgn():
    name = "written.pgn"
    played = Played(*two(), "-rounds", "5", "-pgnout", f"file={path(name)}", "-event", 'The "E"',
                    "-maxmoves", "150")
    games = pgn_games(name)
    tap.same([(t["White"], t["Black"], t["Result"]) for t, _ in games],
             [game[:3] for game in played.games], "PGN has every game and its result")
    tap.check(all(moves[-1] == tags["Result"] and len(moves) - 1 == int(tags["PlyCount"])
                  for tags, moves in games), "tags agree with the moves", games[0])
    again = Played(*two(), "-rounds", "10", "-games", "1", "-openings", f"file={path(name)}",
                   "plies=6", "-maxmoves", "3", "-pgnout", f"file={path('again.pgn')}")
    tap.same([moves[:6] for _, moves in pgn_games("again.pgn")], [moves[:6] for _, moves in games],
             "our reader takes all of it back, as a book", again.text)
    Played(*two(), "-rounds", "1", "-maxmoves", "1", "-pgnout", f"file={path(name)}")
    tap.same(len(pgn_games(name)), 12, "another match appends")


def test_sprt():
    played = Played(*engine("Good"), *engine("Bad", "args=illegal 0"), "-each", "tc=60", "-rounds",
                    "1000", "-sprt", "elo0=0", "elo1=10", "alpha=0.05", "beta=0.05",
                    "model=normalized", "-concurrency", "2")
    found = re.findall(r"LLR: (\S+) \(\S+%\) \(-2.94, 2.94\) \[0.00, 10.00\]", played.out)
    tap.check(played.status == 0 and found and float(found[-1]) >= 2.94 and
              "H1 was accepted" in played.out and len(played.games) < 500,
              "SPRT ends the match when its bound is passed", played.out[-1500:])
    pairs = re.search(r"Ptnml\(0-2\): \[0, 0, 0, 0, (\d+)\]", played.out)
    tap.check(pairs and f"Total: " in played.out and "Results of Good vs Bad" in played.out,
              "the summary has what scripts look for", played.out[-1500:])
    played = Played(*engine("Bad", "args=illegal 0"), *engine("Good"), "-each", "tc=60", "-rounds",
                    "1000", "-sprt", "elo0=0", "elo1=10", "model=logistic")
    tap.check("H0 was accepted" in played.out, "and the other way round", played.out[-800:])


def test_chess960():
    book = write("960.epd", "nrkbbnqr/pppppppp/8/8/8/8/PPPPPPPP/NRKBBNQR w HBhb - 0 1\n"
                            "rkrnnqbb/pppppppp/8/8/8/8/PPPPPPPP/RKRNNQBB w CAca - 0 1\n")
    played = Played(*two(), "-variant", "fischerandom", "-rounds", "20", "-openings", f"file={book}",
                    "-maxmoves", "60", "-pgnout", f"file={path('960.pgn')}")
    games = pgn_games("960.pgn")
    tap.check(played.status == 0 and "illegal" not in played.out and len(games) == 40 and
              all(t["Variant"] == "Chess960" for t, _ in games) and
              any("O-O" in m or "O-O-O" in m for _, m in games), "Chess960 games, castling included",
              played.text)
    again = Played(*two(), "-variant", "fischerandom", "-rounds", "40", "-games", "1", "-openings",
                   f"file={path('960.pgn')}", "-maxmoves", "1")
    tap.check(again.status == 0 and len(again.games) == 40, "our reader takes them back", again.err)


# ---- options and interruption --------------------------------------------------------------------

def test_option_errors():
    good = [*two()]
    cases = [
        (["-engine", f"cmd={OWN_TOY}", "tc=1"], "needs two engines"),
        ([*good, "-each", "tc=1:2:3"], "-each tc=1:2:3: tc expects"),
        ([*good, "-each", "tc=5+x"], "-each tc=5+x: tc expects"),
        ([*good, "-each", "tc=5+0.1s"], "-each tc=5+0.1s: tc expects"),
        ([*good, "-each", "depth=0"], "-each depth=0: depth expects"),
        ([*good, "-each", "proto=xboard"], "proto expects uci"),
        ([*good, "-each", "colour=red"], "colour=red: no such key"),
        ([*good, "-each", "tc"], "-each tc: is not of the form key=value"),
        ([*engine("A"), *engine("B")], "no limit"),
        ([*engine("A"), *engine("B"), "-each", "tc=inf"], "no limit"),
        ([*good, "-rounds", "many"], "-rounds many: expects"),
        ([*good, "-games", "3"], "-games 3: expects 1 or 2"),
        ([*good, "-draw", "score=-1"], "-draw score=-1: score expects"),
        ([*good, "-resign", "moves=1"], "-resign moves=1: no such key"),
        ([*good, "-sprt", "elo0=5", "elo1=0"], "-sprt: elo0"),
        ([*good, "-openings", "order=odd"], "-openings order=odd: order expects"),
        ([*good, "-flag"], "-flag: no such option"),
        ([*good, "-concurrency"], "-concurrency"),
    ]
    for args, wanted in cases:
        played = Played(*args)
        tap.check(played.status == 2 and wanted in played.err and not played.games,
                  f"refused with its name: {' '.join(args[-2:]).replace(FOLDER.name, '')}",
                  f"status {played.status}\n{played.text}")
    played = Played("--help")
    tap.check(played.status == 0 and "-openings" in played.out, "--help helps")
    played = Played(*good, "-openings", "file=/nowhere.epd")
    tap.check(played.status == 1 and "/nowhere.epd" in played.err, "a missing book is named", played.err)
    book = write("bad.epd", "4k3/8/8/8/8/8/8/4K3 w - -\n\nnonsense\n")
    played = Played(*good, "-rounds", "2", "-openings", f"file={book}")
    tap.check(played.status == 1 and "line 3" in played.err, "a bad line of a book is named", played.err)
    played = Played(*engine("A", cmd="/nowhere/engine"), *engine("B"), "-each", "tc=1")
    tap.check(played.status == 1 and "A: cannot start /nowhere/engine" in played.err,
              "an engine that is not there is named", played.err)
    tap.check("Match failed" in played.out and "Finished match" not in played.out, "a match that could not be played says so",
              played.out)


def test_interruption():
    args = [MATCH, *engine("A", "args=childhold 0"), *engine("B", "args=hanggo 5"), "-each", "tc=600",
            "-rounds", "100", "-concurrency", "2"]
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        if number == signal.SIGKILL:  # no process is left to look after grandchildren
            args[4] = "args=ok"
        with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as match:
            wait_until(lambda: len(survivors()) >= 5)
            match.send_signal(number)
            out = match.communicate(timeout=60 * LOAD_FACTOR)[0].decode()
        left = still_there(survivors)
        tap.check(match.returncode == status and not left, f"{number.name} ends the match and leaves no engine",
                  f"{match.returncode}\n{left}\n{out}")
        if number == signal.SIGINT:
            tap.check("Interrupted" in out and "Total:" in out, "with a last summary", out)


def main():
    os.symlink(TOY, OWN_TOY)
    for test in [value for name, value in globals().items() if name.startswith("test_")]:
        if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
            test()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
