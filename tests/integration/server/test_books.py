#!/usr/bin/python3
# test: sanitized only
"""Books of openings: how they come in by command, API and page, what is refused without a trace, and how often their openings
were decisive."""
import gzip
import io
import json
import pathlib
import re
import sys
import urllib.parse
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql  # noqa: E402
from server import ROOT, Client  # noqa: E402
from submission import patch, submission_server  # noqa: E402
from tap import contains, equal, run  # noqa: E402

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
       ("ten-million", gzip.compress(b"8/8/8/8/8/k7/8/K6R w - -\n" * 10_000_000, 1), "line 1000001: a book has at most a million openings"),
       ("bomb", gzip.compress(b"\n" * (300 << 20)), "over 256 MiB"), ("nul", b"rnbqkbnr/8\0\n", "line 1: this is not text"),
       ("side", b"rnbqkbnr/pppp1Qpp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1\n", "line 1"))


def blobs():
    return sorted(path.name for path in (server.data / "blobs").rglob("*") if path.is_file())


def add(name, data, *variant, check=True):
    file = server.folder / "book"
    file.write_bytes(data)
    return server.command("book", "add", server.data, "anvil", name, file, *variant, check=check)


def a_book_comes_as_epd_or_pgn_packed_or_not():
    for name, data, openings in (("epd", EPD, 2), ("pgn", PGN, 2), ("epd-gz", gzip.compress(EPD), 2), ("pgn-zip", zipped(x_pgn=PGN), 2),
                                 ("frc", CHESS960, 1)):
        words = f"anvil: book {name}, {openings} openings{', Chess960' * (name == 'frc')}, {0 if name == 'frc' else 1} left out"
        equal(add(name, data), words + "\n")
        equal(Client(server).api("GET", "/events?type=book").json["items"][0]["message"], words)
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
    for data, variant, words in ((CHESS960, "standard", "book x: line 1: the opening is of the variant chess960"),
                                 (EPD, "chess960", "book x: line 2: the opening is of the variant standard"),
                                 (EPD, "atomic", "variant: is standard or chess960")):
        done = add("x", data, variant, check=False)
        equal((done.returncode, done.stderr), (1, f"server: {words}\n"))
    equal((sql(server, "SELECT * FROM books"), blobs()), (before, stored))


# ---- made by command


def make(*words, check=True):
    return server.command("book", "make", server.data, *words, check=check)


def the_book_of_this_program_is_made_once():
    contains(make(check=False).stderr, "the engine has a book anvil already")  # that of init is another one
    equal(make("anvil", "own"), "anvil: book own, 250000 openings, 0 left out\n")
    equal(make("anvil", "another"), "anvil has this book already: own\n")
    equal(sql(server, "SELECT count(*) FROM books WHERE openings = 250000"), [(1,)])


def a_book_is_made_for_an_engine_that_exists():
    before = sql(server, "SELECT * FROM books")
    done = make("none", "x", check=False)
    equal((done.returncode, done.stdout), (1, ""))
    contains(done.stderr, "there is no engine none")
    equal(make("anvil", "x", "y", check=False).returncode, 2)
    equal(sql(server, "SELECT * FROM books"), before)


# ---- by the API and the page


def upload(who, name, data, **query):
    words = urllib.parse.urlencode({"name": name, **query})
    return who.request("POST", f"/api/v1/books?{words}", data, {"Content-Type": "application/octet-stream"})


def multipart(fields, file):
    boundary = "PatchmateBoundary"
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()]
    parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="book"; filename="x.epd"\r\n\r\n'.encode() + file + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def a_maintainer_uploads_a_book_and_tests_may_choose_it():
    boss, dev = server.client("boss"), server.client("dev")
    reply = upload(boss, "by API", zipped(b_pgn=PGN))
    equal(reply.status, 201, reply)
    equal(set(reply.json), set(EXAMPLES["book.reply"]))
    equal((reply.json["openings"], reply.json["duplicates"]), (2, 1))
    equal(dev.api("POST", "/tests", {"title": "x", "patch": patch().decode(), "bench": 5, "book": "by API"}).status, 201)
    listed = dev.api("GET", "/books").json
    equal((set(listed), set(listed["items"][0])), (set(EXAMPLES["books.reply"]), set(EXAMPLES["books.reply"]["items"][0])))
    item = next(item for item in listed["items"] if item["name"] == "by API")
    equal((item["user"], item["format"], item["duplicates"], item["tests"], item["decisive_share"]), ("boss", "pgn", 1, 1, None))
    equal((listed["may_upload"], boss.api("GET", "/books").json["may_upload"]), (False, True))
    text = dev.request("GET", f"/api/v1/blobs/{item['sha256']}").text
    equal(len(text.splitlines()), 2)
    contains([e["message"] for e in dev.api("GET", "/events?type=book").json["items"]][0], "book by API, 2 openings, 1 left out")
    for who, status in ((dev, 403), (server.client("joe"), 403), (Client(server), 401)):
        equal(upload(who, "mine", EPD).status, status)
    body, kind = multipart({"csrf": boss.csrf, "name": "by <b>form</b>", "engine": "anvil", "variant": ""}, EPD)
    reply = boss.request("POST", "/books", body, kind)
    equal(reply.status, 303, reply)
    page = boss.get(reply.headers["Location"])
    contains(page.text, "Book by &lt;b&gt;form&lt;/b&gt;")
    contains(boss.get("/books").text, "by &lt;b&gt;form&lt;/b&gt;")


def a_book_that_is_refused_leaves_nothing_and_the_page_says_why():
    boss = server.client("boss")
    before, stored = sql(server, "SELECT * FROM books"), blobs()
    for name, data, words in BAD:
        reply = upload(boss, name, data)
        equal((reply.status, reply.json["error"]["field"]), (413 if name == "bomb" else 422, "book"), reply)
        contains(reply.json["error"]["message"], words if data else "choose a file")
    reply = upload(boss, "anvil", EPD + b"8/8/8/8/8/6k1/8/7K w - -\n")
    equal((reply.status, reply.code, reply.json["error"]["field"]), (409, "book_exists", "name"))
    equal(upload(boss, "x", CHESS960, variant="standard").json["error"]["message"], "book x: line 1: the opening is of the variant chess960")
    equal(upload(boss, "x", EPD, variant="atomic").json["error"]["field"], "variant")
    equal(upload(boss, "", EPD).json["error"]["field"], "name")
    equal(upload(boss, "x", EPD, engine="none").json["error"]["field"], "engine")
    body, kind = multipart({"csrf": boss.csrf, "name": "typed", "engine": "anvil"}, EPD + b"8/8 w - -\n")
    reply = boss.request("POST", "/books", body, kind)
    equal(reply.status, 422)
    contains(reply.words, "line 5:")
    contains(reply.text, 'value="typed"')
    equal((sql(server, "SELECT * FROM books"), blobs()), (before, stored))


def each_opening_says_how_often_it_was_decisive():
    book = upload(server.client("boss"), "played", PGN).json["id"]
    test = add_test(server, book_id=book, tc="10+0.1", batch_pairs=4, seed=42, state="finished", result="completed", finished=1,
                    counts=json.dumps({"ptnml": [1, 0, 2, 0, 1], "v": 1}))
    worker = server.worker(key="w" * 40).worker
    sql(server, "INSERT INTO tasks (id, test_id, worker_id, first_pair, pair_count, side, against, cores, phase, state, lease_until, created, "
                "finished) VALUES (900, ?, ?, 0, 8, 'new', 'base', 1, 'play', 'done', 1, 1, 1)", test, worker)
    outcomes = "4022", "2024"
    for seq, text in enumerate(outcomes):
        sql(server, "INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, busy, received, position, "
                    "thought, level) VALUES (?, 900, ?, ?, 4, ?, '10+0.1', 1, 0, ?, ?, 0, 1)",
            test, worker, seq, json.dumps({"outcomes": text}), seq + 1, seq + 1)
    sql(server, "INSERT INTO exclusions (test_id, kind, since, until, which, reason, created) VALUES (?, 'window', 2, 3, 'all', '', 9)", test)
    document = Client(server).api("GET", f"/books/{book}").json
    equal((set(document["played"]), set(document["played"]["items"][0])),
          (set(EXAMPLES["book.more"]["played"]), set(EXAMPLES["book.more"]["played"]["items"][0])))
    # Pair i plays opening i mod 2 of the order. The second batch is excluded.
    equal((document["played"]["pairs"], document["played"]["openings"]), (4, 2))
    equal(sorted((item["pairs"], item["decisive"]) for item in document["played"]["items"]), [(2, 1), (2, 1)])
    equal((document["book"]["pairs"], document["book"]["decisive"], document["book"]["decisive_share"]), (4, 2, 0.5))
    contains(Client(server).get(f"/books/{book}").words, "4 pairs were played from 2 openings. 0 of these openings were never decisive.")
    equal(Client(server).api("GET", "/books/999").code, "no_such_book")


EXAMPLES = {name: json.loads(text) for name, text in
            re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server/API.md").read_text(), re.S) if name.startswith("book")}

if __name__ == "__main__":
    with submission_server() as server:
        run(a_book_comes_as_epd_or_pgn_packed_or_not, what_is_refused_leaves_nothing, the_book_of_this_program_is_made_once,
            a_book_is_made_for_an_engine_that_exists,
            a_maintainer_uploads_a_book_and_tests_may_choose_it, a_book_that_is_refused_leaves_nothing_and_the_page_says_why,
            each_opening_says_how_often_it_was_decisive)
