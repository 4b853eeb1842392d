#!/usr/bin/python3
"""Books of openings: how they come in by the command, and what is refused without a trace."""
import gzip
import io
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import sql  # noqa: E402
from submission import submission_server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

EPD = b"""# a comment
rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pppp1ppp/8/4p3/3P4/8/PPP1PPPP/RNBQKBNR w KQkq -
rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 9
"""
PGN = b"""[Event "?"]

1. d4 Nf6 2. c4 e6 *

[Event "?"]

1. c4 e6 2. d4 Nf6 *

[Event "?"]

1. e4 {a comment} (1. f4) c5 1-0
"""
MATE = b'[Event "?"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
CHESS960 = b"bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w HEhe - 0 1\n"


def zipped(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return packed.getvalue()


# Name, bytes, and what the refusal says.
BAD = (("empty", b"", "the file has no openings"), ("no-move", EPD + b"8/8/8/8/8/6k1/6q1/7K w - -\n", "line 5: the game is over there"),
       ("mate", MATE, "line 1: the game is over there"), ("illegal", PGN + b"\n\n[Event \"?\"]\n\n1. e4 e4 *\n", "line 16"),
       ("crazy", b'[Variant "Crazyhouse"]\n\n1. e4 *\n', "variant that is not played here"),
       ("cut-zip", zipped(book_pgn=PGN * 50)[:-30], "the packed file is damaged or cut"),
       ("cut-gzip", gzip.compress(EPD * 50)[:-12], "the packed file is damaged or cut"),
       ("two", zipped(a_epd=EPD, b_epd=EPD), "the zip has more than one file"), ("hollow", zipped(), "the packed file is damaged"),
       ("bomb", gzip.compress(b"\n" * (300 << 20)), "over 256 MiB"), ("nul", b"rnbqkbnr/8\0\n", "line 1: this is not text"),
       ("side", b"rnbqkbnr/pppp1Qpp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1\n", "line 1"))


def blobs():
    return sorted(path.name for path in (server.data / "blobs").rglob("*") if path.is_file())


def add(name, data, check=True):
    file = server.folder / "book"
    file.write_bytes(data)
    return server.command("book", "add", server.data, "anvil", name, file, check=check)


def a_book_comes_as_epd_or_pgn_packed_or_not():
    for name, data, openings in (("epd", EPD, 2), ("pgn", PGN, 2), ("epd-gz", gzip.compress(EPD), 2), ("pgn-zip", zipped(x_pgn=PGN), 2),
                                 ("frc", CHESS960, 1)):
        add(name, data)
        contains(server.command("book", "list", server.data), f"anvil {name}: {openings} openings")
    one, packed = (sql(server, "SELECT blob, duplicates FROM books WHERE name = ?", name)[0] for name in ("pgn", "pgn-zip"))
    equal((one, one[1]), (packed, 1), "the packed book is the same, without the game that transposes")
    contains(server.command("book", "list", server.data), "anvil frc: 1 openings, Chess960")


def what_is_refused_leaves_nothing():
    before, stored = sql(server, "SELECT * FROM books"), blobs()
    for name, data, words in BAD:
        done = add(name, data, check=False)
        equal(done.returncode, 1, name)
        contains(done.stderr, words)
        contains(done.stderr, f"book {name}")
    done = add("anvil", EPD.replace(b"1 9", b"1 9\n8/8/8/8/8/6k1/8/7K w - - 0 1"), check=False)
    contains(done.stderr, "the engine has a book anvil already")
    for name in ("", "two\nlines", "x" * 101):
        equal(add(name, EPD, check=False).returncode, 1, name)
    equal((sql(server, "SELECT * FROM books"), blobs()), (before, stored))


if __name__ == "__main__":
    with submission_server() as server:
        run(a_book_comes_as_epd_or_pgn_packed_or_not, what_is_refused_leaves_nothing)
