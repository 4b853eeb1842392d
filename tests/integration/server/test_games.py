#!/usr/bin/python3
# test: plain if LONG
"""The games of a test, over real HTTP: as another program reads them (pgn-extract), as many as page and ledger say, by filter, and for
a client that reads slowly or asks for what is not there; and that `server check` finds what the archive lacks."""

import collections
import contextlib
import json
import pathlib
import re
import shutil
import socket
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql, wild_book, write_plain_book  # noqa: E402
from pgn import extracted, headers, results_in  # noqa: E402
from played import post_batch, played, upload  # noqa: E402
from protocol import batch, claim, clock_of  # noqa: E402
from server import ROOT, Client, Server, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

EXAMPLES = {name: json.loads(text) for name, text in
            re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server" / "API.md").read_text(), re.S)}
STANDARD, WILD, LONG, OTHERS = 1, 2, 3, 4  # tests
ENDINGS = ("rule", "adjudication", "time", "illegal", "crash", "stall", "ponder")
server = anyone = None
tasks = {}


# ---- readers ---------------------------------------------------------------------------------------------------------------------

def games(test, query="", status=200, ending="pgn"):
    reply = anyone.get(f"/tests/{test}/games.{ending}{query}")
    equal(reply.status, status, f"{test} {query}: {reply}")
    return reply


def lines(test, query=""):
    return [json.loads(line) for line in games(test, query, ending="jsonl").text.splitlines()]


def results(test):
    """Of the new side, as the page's document has them."""
    stats = anyone.api("GET", f"/tests/{test}").json["stats"]
    return {name: stats[name] for name in ("games", "wins", "losses", "draws")}


# ---- whole tests -----------------------------------------------------------------------------------------------------------------

def the_games_of_a_whole_test_are_as_many_for_another_program_as_for_page_and_ledger():
    for test in (STANDARD, WILD):
        data = games(test).body
        wanted = results(test)
        true(wanted["games"] >= 16, wanted)
        equal(extracted(data), (wanted["games"],) * 2, f"test {test}")
        equal(results_in(data), wanted)
        (ledger,), = sql(server, "SELECT sum(2 * units) FROM counted_batches WHERE test_id = ?", test)
        equal((len(lines(test)), ledger), (wanted["games"],) * 2)
        told = anyone.api("GET", f"/tests/{test}").json["games"]
        equal((told["counted"], told["pgn"]), (wanted["games"], f"/tests/{test}/games.pgn"))
        page = anyone.get(f"/tests/{test}").text
        contains(page, f'href="/tests/{test}/games.pgn"')
        contains(page, told["text"])
    equal({tags["Variant"] for tags in headers(games(WILD).body)}, {"Chess960"})
    true(all("Variant" not in tags for tags in headers(games(STANDARD).body)), "a standard game names no variant")
    contains(server.command("check", server.data), "0 differences")


def another_program_would_see_a_game_that_cannot_be_played():
    """So the test before means something: a move is exchanged for one that is never legal."""
    data = games(STANDARD).body
    at = data.index(b"\n1.") + 4
    matched, count = extracted(data[:at] + re.sub(rb"^\s*\S+", b" Ka1a8", data[at:]))
    true(matched < count, f"{matched} of {count}")


def a_game_has_its_moves_clocks_scores_depths_and_nodes():
    worker, task = tasks[STANDARD, 1]
    line = lines(STANDARD, f"?task={task['id']}&batch=1")[0]
    query = f"?pair={line['pair']}&game=0"
    data = games(STANDARD, query).body.decode()
    (tags,) = headers(data.encode())
    equal(set(line), set(EXAMPLES["game.line"]) , "as API.md shows it")
    moves = re.findall(r"\{([^}]*)\}", data.replace("\n", " "))
    book, own = [text for text in moves if text == "book"], [text for text in moves if text != "book"]
    equal(len(book), len(line["opening"]["moves"].split()))
    equal(len(own), len(line["moves"].split()))
    equal(int(tags["PlyCount"]), len(moves))
    for text, clock, score, depth, nodes in zip(own, line["clock_ms"], line["scores"], line["depths"], line["nodes"], strict=True):
        found = re.fullmatch(r"([+-]\d+\.\d\d)/(\d+) (\d+\.\d{3})s, n=(\d+), \[%clk (\d+):(\d\d):(\d\d\.\d{3})\]", text)
        true(found, text)
        equal((round(100 * float(found[1])), int(found[2]), int(found[4])), (score, depth, nodes), text)
        equal(round(1000 * (3600 * int(found[5]) + 60 * int(found[6]) + float(found[7]))), clock, text)
    # What was taken from the clocks is what the moves took.
    took = [round(1000 * float(re.search(r"(\d+\.\d{3})s", text)[1])) for text in own]
    for side in (0, 1):
        equal(10000 + 100 * len(took[side::2]) - sum(took[side::2]), line["clock_ms"][side::2][-1])
    true(sum(took) > 1000, took)
    equal((tags["Test"], tags["Task"], tags["Batch"], tags["Pair"], tags["Game"], tags["Machine"], tags["Counts"], tags["TimeControl"]),
          ("1", str(task["id"]), "1", str(line["pair"]), "0", str(worker.worker), "counted", "10.000+0.100"))
    contains(tags["White"], "(new)")
    equal(tags["Event"], 'Test 1: with \\"quotes\\" and a \\\\')
    reply = games(STANDARD, query)
    equal((reply.headers["Content-Type"], reply.headers["Content-Disposition"]), ("text/plain; charset=utf-8", None), "a browser shows it")
    contains(games(STANDARD).headers["Content-Disposition"], 'filename="test-1.pgn"')


def the_api_has_the_same_files():
    for ending in ("pgn", "jsonl"):
        equal(anyone.api("GET", f"/tests/1/games.{ending}").body, games(STANDARD, ending=ending).body)
    reply = anyone.request("HEAD", "/tests/1/games.pgn")
    equal((reply.status, reply.body), (200, b""))
    equal(anyone.get("/").status, 200, "the connection goes on")


# ---- filters ---------------------------------------------------------------------------------------------------------------------

def filters_give_the_games_that_fit_and_no_others():
    everything = lines(STANDARD)
    new_wins = lambda game: game["result"] == ("1-0" if game["new_is"] == "white" else "0-1")
    drawn = lambda game: game["result"] == "1/2-1/2"
    opening, machine, task = (everything[5][name] for name in ("opening", "machine", "task"))
    for query, fits in (
            ("result=win", new_wins), ("result=loss", lambda game: not new_wins(game) and not drawn(game)), ("result=draw", drawn),
            ("result=1-0", lambda game: game["result"] == "1-0"), ("result=0-1", lambda game: game["result"] == "0-1"),
            ("result=1/2-1/2", drawn), (f"opening={opening['number']}", lambda game: game["opening"] == opening),
            (f"machine={machine}", lambda game: game["machine"] == machine), (f"task={task}", lambda game: game["task"] == task),
            (f"task={task}&batch=1", lambda game: (game["task"], game["batch"]) == (task, 1)),
            ("pair=3", lambda game: game["pair"] == 3), ("pair=3&game=1", lambda game: (game["pair"], game["game"]) == (3, 1)),
            ("game=0&result=win", lambda game: game["game"] == 0 and new_wins(game)),
            ("result=&ending=&task=&opening=", lambda game: True),
            *((f"ending={ending}", lambda game, ending=ending: game["end"] == ending) for ending in ENDINGS)):
        wanted = [game for game in everything if fits(game)]
        equal(lines(STANDARD, "?" + query), wanted, query)
        equal(extracted(games(STANDARD, "?" + query).body)[0] if wanted else 0, len(wanted), query)
        if query[:7] != "ending=" or query in ("ending=time", "ending=crash", "ending=adjudication", "ending=rule"):
            true(wanted, f"{query} fits nothing, so this tries nothing")
    equal(lines(STANDARD, "?pair=99999"), [])
    line = (server.folder / "openings").read_text().splitlines()[opening["number"] - 1]
    equal(opening["fen"].split()[:4], line.split()[:4], "numbers are lines of the book, from 1")


def a_filter_that_names_nothing_is_refused_with_what_to_do():
    for query, field, words in (
            ("ending=tmie", "ending", "ending is rule, adjudication, time, illegal, crash, stall or ponder, or is left out"),
            ("endng=time", "", "there is no filter endng; filters are task, machine, batch, pair, game, opening, result, ending and which"),
            ("result=won", "result", "result is win, loss or draw of the new side, or 1-0, 0-1 or 1/2-1/2"),
            ("result=*", "result", "result=*"), ("opening=0", "opening", "the number of an opening of the book, from 1"),
            ("opening=9999999999999999999999", "opening", "from 1"), ("pair=-1", "pair", "from 0"), ("game=2", "game", "0 or 1"),
            ("task=x", "task", "the number of a task"), ("machine=", None, ""), ("batch=0", "batch", "give task, too"),
            ("which=some", "which", "counted, the games that count"), ("ending=time%0d%0aX:1", "ending", "names no games")):
        reply = anyone.api("GET", f"/tests/1/games.pgn?{query}")
        if field is None:
            equal(reply.status, 200, query)
            continue
        equal((reply.status, reply.code, reply.json["error"]["field"]), (422, "bad_filter", field), query)
        contains(reply.json["error"]["message"], words)
    contains(games(STANDARD, "?ending=tmie", 422).words, "ending=tmie names no games")
    for path, code in (("/tests/99/games.pgn", "no_such_test"), ("/tests/1/games.pgn?task=999", "no_such_task"),
                       ("/tests/1/games.jsonl?machine=999", "no_such_machine"), ("/tests/2/games.pgn?task=1", "no_such_task")):
        reply = anyone.api("GET", path)
        equal((reply.status, reply.code), (404, code), path)


def what_an_excluded_machine_played_is_read_only_when_all_is_asked_for():
    before, boss = lines(STANDARD), server.client("boss")
    worker = tasks[STANDARD, 1][0].worker
    theirs = [game for game in before if game["machine"] == worker]
    true(0 < len(theirs) < len(before), theirs)
    equal(boss.api("POST", "/tests/1/exclude", {"kind": "machine", "worker": worker, "which": "all"}).status, 200)
    wanted = [game for game in before if game["machine"] != worker]
    equal(lines(STANDARD), wanted)
    equal(results(STANDARD)["games"], len(wanted))
    equal(extracted(games(STANDARD).body), (len(wanted),) * 2)
    every = lines(STANDARD, "?which=all")
    equal([game for game in every if game["counts"] == "excluded"], [{**game, "counts": "excluded"} for game in theirs])
    told = anyone.api("GET", "/tests/1").json["games"]
    equal((told["counted"], told["stored"]), (len(wanted), len(every)))
    equal({tags["Counts"] for tags in headers(games(STANDARD, "?which=all").body)}, {"counted", "excluded"})
    contains(server.command("check", server.data), "0 differences")
    exclusion = anyone.api("GET", "/tests/1").json["exclusions"][0]["exclusion"]
    equal(boss.api("POST", "/tests/1/include", {"exclusion": exclusion}).status, 200)
    equal(lines(STANDARD), before)


# ---- what was played on ----------------------------------------------------------------------------------------------------------

def what_was_played_on_after_a_rule_is_no_part_of_the_game():
    """A game that a rule ended gets its other end; its moves and plies stay what they were."""
    worker, task = tasks[OTHERS, 0]
    number = next(number for number in task["play_on"] if number < 2 * 500)
    pair = task["first_pair"] + number // 2
    query = f"?pair={pair}&game={number % 2}"
    (before,), text = lines(OTHERS, query), games(OTHERS, query).body
    equal(before["end"], "adjudication")
    reply = worker.api("PUT", f"/tasks/{task['id']}/endings/{number}", {"moves": "e7e5 g2g4 d8h4", "result": "0-1", "end": "rule",
                                                                       "thought_ms": [100, 300]})
    equal(reply.status, 200, reply)
    equal(sql(server, "SELECT count(*) FROM endings"), [(1,)])
    equal((lines(OTHERS, query), games(OTHERS, query).body), ([before], text))
    (tags,) = headers(text)
    equal((tags["PlyCount"], tags["Termination"], before["moves"]), ("1", "adjudication", "f2f3"))
    true(b"Qh4" not in text and b"d8h4" not in text, "the moves after the rule")
    equal(extracted(games(OTHERS).body), (results(OTHERS)["games"],) * 2)


# ---- what machines sent ----------------------------------------------------------------------------------------------------------

def what_a_machine_wrote_beside_its_game_is_not_served():
    worker = server.worker(key="e" * 32)
    task = claim_of(worker, STANDARD)
    sent = played(task, 0, "2222", 77)
    for each in sent:
        each.update(test=99, counts="counted", secret="<script>", reason='a "quoted\\" reason\u202e\x1b[31m')
    sha = upload(worker, task, 0, sent).json["sha256"]
    first_in_line(task)
    reply = worker.api("POST", f"/tasks/{task['id']}/batches", batch(0, "2222", sha, tc=clock_of(task)))
    equal((reply.status, reply.json.get("counted")), (200, True), reply)
    found = lines(STANDARD, f"?task={task['id']}")
    equal({(game["test"], "secret" in game) for game in found}, {(1, False)})
    raw = games(STANDARD, f"?task={task['id']}")
    true(b"\x1b" not in raw.body and "\u202e" not in raw.text and "script" not in raw.text, "what acts in a terminal")
    equal(headers(raw.body)[0]["Reason"], 'a \\"quoted\\\\\\" reason\\\\u202e\\\\x1b[31m')
    equal(extracted(raw.body), (8, 8))
    true(b"\x1b" not in games(STANDARD, f"?task={task['id']}", ending="jsonl").body, "escaped")


# ---- slow clients and many of them -----------------------------------------------------------------------------------------------

def opened(path, address, count=1, afterwards="close"):
    """Downloads whose client reads nothing but their status."""
    sockets = []
    for _ in range(count):
        each = socket.socket()
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        each.settimeout(60 * LOAD_FACTOR)
        each.connect(("127.0.0.1", server.port))
        each.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {address}\r\nConnection: {afterwards}\r\n\r\n".encode())
        sockets.append(each)
    return sockets, collections.Counter(int(each.recv(12).split()[1]) for each in sockets)


def rest_of(connection):
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def closed(sockets):
    for each in sockets:
        each.close()
    wait_until(lambda: server.metric("downloads") == 0)


def a_slow_client_holds_no_reader_and_no_transaction_and_gets_the_whole_file():
    whole = games(LONG, ending="jsonl").body
    true(len(whole) > 4 << 20, f"{len(whole)} bytes fit the buffers of a socket")
    slow, statuses = opened(f"/tests/{LONG}/games.jsonl", "192.0.2.50", 8)
    equal(statuses, {200: 8})
    equal(server.metric("downloads"), 8)
    # The log of the database can be shortened while they wait: none of them holds a look at it.
    wait_until(lambda: sql(server, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0)
    equal(anyone.get("/").status, 200)
    body = rest_of(slow[0]).partition(b"\r\n\r\n")[2]
    equal(unchunked(body), whole)
    closed(slow)


def unchunked(body):
    out, at = [], 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end], 16)
        if not size:
            return b"".join(out)
        out.append(body[end + 2:end + 2 + size])
        at = end + 4 + size


def an_address_has_eight_downloads_and_others_still_get_theirs():
    held, statuses = opened(f"/tests/{LONG}/games.jsonl", "192.0.2.1", 12)
    equal(statuses, {200: 8, 429: 4})
    reply = anyone.api("GET", f"/tests/{LONG}/games.pgn?pair=0", headers={"X-Forwarded-For": "192.0.2.1"})
    equal((reply.status, reply.code), (429, "too_many_downloads"), reply)
    contains(reply.json["error"]["message"], "8 downloads of this address are under way")
    equal(anyone.api("GET", f"/tests/{LONG}/games.pgn?pair=0", headers={"X-Forwarded-For": "198.51.100.7"}).status, 200)
    closed(held)


def clients_that_do_not_read_give_their_places_up_to_those_that_do():
    held = []
    for i in range(16):
        some, statuses = opened(f"/tests/{LONG}/games.jsonl", f"192.0.2.{100 + i}", 8)
        equal(statuses, {200: 8})
        held += some
    equal(server.metric("downloads"), 128)
    fresh = {"X-Forwarded-For": "198.51.100.7"}
    reply = wait_until(lambda: (reply := anyone.get(f"/tests/{LONG}/games.pgn", **fresh)).status == 200 and reply, 60)
    equal(extracted(reply.body), (results(LONG)["games"],) * 2)
    closed(held)


def filters_that_nothing_fits_leave_visitors_and_other_downloads_served():
    """No count of a batch says how many of its games ended by rule, so the server looks through all of them."""
    query = f"/tests/{LONG}/games.pgn?ending=rule"
    held = [each for i in range(16) for each in opened(query, f"192.0.2.{100 + i}", 8)[0]]
    fresh = {"X-Forwarded-For": "198.51.100.7"}
    for _ in range(5):
        equal(anyone.get("/", **fresh).status, 200)
    for each in held:
        each.close()
    equal(extracted(anyone.get("/tests/1/games.pgn", **fresh).body), (results(STANDARD)["games"],) * 2)
    wait_until(lambda: server.metric("downloads") == 0)


def a_client_that_goes_away_ends_its_download():
    held, _ = opened(f"/tests/{LONG}/games.jsonl", "192.0.2.9", 4)
    closed(held)


# ---- what is not there -----------------------------------------------------------------------------------------------------------

def blob(test):
    """The file of the first batch of a test."""
    (sha,), = sql(server, "SELECT games_sha256 FROM batches WHERE test_id = ? ORDER BY id LIMIT 1", test)
    return server.data / "blobs" / sha[:2] / sha


def check():
    done = server.command("check", server.data, check=False)
    return done.returncode, done.stdout


def the_check_finds_games_that_the_archive_lacks():
    path = blob(LONG)
    good = path.read_bytes()
    try:
        path.unlink()
        status, told = check()
        equal(status, 1)
        contains(told, f"test {LONG}: the games of batch 0 of task")
        contains(told, f"test {LONG}: ")
        contains(told, "games that count are in the archive, its batches count")
        path.write_bytes(good[:-5] + b"x" + good[-4:])
        status, told = check()
        equal(status, 1)
        contains(told, f"test {LONG}: the games of batch 0 of task")
    finally:
        path.write_bytes(good)
    equal(check()[0], 0)
    counted, = sql(server, "SELECT units_counted FROM tests WHERE id = ?", LONG)[0]
    sql(server, "UPDATE tests SET units_counted = units_counted + 1 WHERE id = ?", LONG)
    contains(check()[1], f"its batches count {2 * counted}, and the test {2 * counted + 2}")
    sql(server, "UPDATE tests SET units_counted = ? WHERE id = ?", counted, LONG)
    task, seq, sha = sql(server, "SELECT task_id, seq, sha256 FROM games ORDER BY task_id, seq LIMIT 1")[0]
    sql(server, "UPDATE games SET sha256 = (SELECT sha256 FROM games WHERE sha256 <> ? LIMIT 1) WHERE task_id = ? AND seq = ?", sha, task, seq)
    contains(check()[1], f"the games of batch {seq} of task {task}: the upload that it names is not in the archive")
    sql(server, "UPDATE games SET sha256 = ? WHERE task_id = ? AND seq = ?", sha, task, seq)
    status, told = check()
    equal(status, 0)
    contains(told, "games of 4 tests in the archive, games of 0 tests dropped, 0 differences")


def a_file_that_cannot_be_read_breaks_the_reply_off_and_is_not_a_shorter_one():
    path = blob(LONG)
    good = path.read_bytes()
    path.unlink()
    try:
        for afterwards in ("close", "keep-alive"):
            (connection,), _ = opened(f"/tests/{LONG}/games.pgn", "192.0.2.60", afterwards=afterwards)
            reply = rest_of(connection)
            true(not reply.endswith(b"0\r\n\r\n"), "the file ends as if it were whole")
            connection.close()
        contains(server.log(), f"the reply to /tests/{LONG}/games.pgn is broken off: the games of batch 0 of task")
    finally:
        path.write_bytes(good)
    equal(games(LONG).status, 200)


def games_that_were_dropped_are_named_by_page_document_check_and_reply():
    sql(server, "UPDATE tests SET games_dropped = 1790000000 WHERE id = ?", LONG)
    for ending in ("pgn", "jsonl"):
        reply = anyone.api("GET", f"/tests/{LONG}/games.{ending}")
        equal((reply.status, reply.code), (410, "games_dropped"), reply)
        contains(reply.json["error"]["message"], f"the games of test {LONG} were dropped on ")
    contains(games(LONG, "", 410).words, "because the server&#39;s disk was nearly full; its results are kept")
    # Another connection has written, so the kept parts of the page are made again by the next commit alone.
    told = anyone.api("GET", f"/tests/{LONG}").json["games"]
    equal((told["dropped"], told["pgn"], told["jsonl"]), (1790000000, None, None))
    contains(told["text"], "The games of this test were dropped on ")
    page = anyone.get(f"/tests/{LONG}").text
    contains(page, "The games of this test were dropped on ")
    true("games.pgn" not in page, "a link leads nowhere")
    status, text = check()
    equal(status, 0)
    contains(text, f"test {LONG}: its games were dropped on 2026-09-21, because the disk was nearly full")
    contains(text, "games of 3 tests in the archive, games of 1 tests dropped, 0 differences")


# ---- the server ------------------------------------------------------------------------------------------------------------------

def claim_of(worker, test):
    """A task of this test: it is the only one that is active meanwhile."""
    sql(server, "UPDATE tests SET state = CASE id WHEN ? THEN 'active' ELSE 'paused' END WHERE state IN ('active', 'paused')", test)
    task = claim(worker).json
    equal(task["test"]["id"], test)
    return task


def first_in_line(task):
    """Its next batch waits for no other machine."""
    sql(server, "UPDATE tasks SET due = CASE id WHEN ? THEN 0 ELSE 1e12 END", task["id"])


def play(test, number, batches, seed=1):
    worker = server.worker(key=f"{test}-{number}-".ljust(32, "k"), name=f"box {number}")
    task = claim_of(worker, test)
    tasks[test, number] = worker, task
    sql(server, "UPDATE tasks SET created = created - 10000 WHERE id = ?", task["id"])  # so long it has thought
    for seq, (outcomes, fields) in enumerate(batches):
        first_in_line(task)
        reply = post_batch(worker, task, seq, outcomes, seed + 100 * seq, **fields)
        equal((reply.status, reply.json.get("counted")), (200, True), reply)


def play_thoughtful_games(test, number, seq):
    """Their engines think, and the batch says for how long."""
    worker, task = tasks[test, number]
    first_in_line(task)
    sent = played(task, seq, "2222", seed=7, plies=60, think_ms=80)
    used = lambda clocks: 10000 + 100 * len(clocks) - clocks[-1]
    thought = sum(used(each["clock_ms"][side::2]) for each in sent for side in (0, 1))
    sha = upload(worker, task, seq, sent).json["sha256"]
    reply = worker.api("POST", f"/tasks/{task['id']}/batches", batch(seq, "2222", sha, tc=clock_of(task), thought=thought))
    equal((reply.status, reply.json.get("counted")), (200, True), reply)


def play_long_games():
    """Enough text that no socket holds it all: numbers may be long, too."""
    worker = server.worker(key="l" * 32, name="long box")
    for first in range(0, 16, 2):
        task = claim_of(worker, LONG)
        equal(task["pairs"], 100)
        for seq in range(2):
            first_in_line(task)
            sent = played(task, seq, "04" * 25, seed=1000 + first + seq, plies=60)
            for each in sent:
                each.update(nodes=[10 ** 17 + i for i in range(len(each["nodes"]))], depths=[10 ** 6] * len(each["depths"]))
            sha = upload(worker, task, seq, sent).json["sha256"]
            reply = worker.api("POST", f"/tasks/{task['id']}/batches", batch(seq, "04" * 25, sha, tc=clock_of(task)))
            equal((reply.status, reply.json.get("counted")), (200, True), reply)



def play_ruled_games():
    """Each ends by a rule after a move, as in test_endings.py."""
    worker = server.worker(key="r" * 32, name="ruled box")
    task = claim_of(worker, OTHERS)
    tasks[OTHERS, 0] = worker, task
    size = task["test"]["batch_pairs"]
    sent = [{"pair": task["first_pair"] + i // 2, "opening": task["openings"][i // 2], "new_is": ("white", "black")[i % 2], "result": "0-1",
             "end": "adjudication", "reason": "White resigns", "moves": "f2f3", "clock_ms": [10100], "scores": [-700], "depths": [9],
             "nodes": [1000]} for i in range(2 * size)]
    sha = upload(worker, task, 0, sent).json["sha256"]
    first_in_line(task)
    reply = worker.api("POST", f"/tasks/{task['id']}/batches", batch(0, "2" * size, sha, tc=clock_of(task), wins=size, losses=size, draws=0))
    equal((reply.status, reply.json.get("counted")), (200, True), reply)


def main():
    global server, anyone
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        book = write_plain_book(pathlib.Path(folder) / "book.epd")
        server = Server("--trusted-proxy", "127.0.0.1", init_options=["--book", str(book)], start=False)
        shutil.copy(book, server.folder / "openings")
    try:
        one = wild_book(server.folder / "wild.epd")
        server.command("book", "add", server.data, "anvil", "wild", one, "chess960")
        add_test(server, tc="10+0.1", title='with "quotes" and a \\')
        add_test(server, tc="10+0.1", title="wild", variant="chess960", book_id=2)
        add_test(server, tc="10+0.1", title="long", batch_pairs=50, workload="fixed")
        ruled = {"resign_score": 600, "resign_count": 1, "resign_two_sided": False, "draw_move": 34, "draw_score": 20, "draw_count": 8,
                 "max_moves": 0}
        add_test(server, tc="10+0.1", title="ruled", batch_pairs=500, adjudication=json.dumps(ruled))
        server.add_user("boss", "maintainer")
        server.command("set", server.data, "writes_per_minute", "1000000")
        server.start()
        anyone = Client(server)
        play(STANDARD, 0, [("2341", {}), ("0134", {"crashes": 1, "time_losses": 1})], 1)
        play(STANDARD, 1, [("1243", {})], 500)
        play_thoughtful_games(STANDARD, 1, 1)
        play(WILD, 0, [("2341", {}), ("2204", {})], 900)
        play_long_games()
        play_ruled_games()
        run(the_games_of_a_whole_test_are_as_many_for_another_program_as_for_page_and_ledger,
            another_program_would_see_a_game_that_cannot_be_played, a_game_has_its_moves_clocks_scores_depths_and_nodes,
            the_api_has_the_same_files, filters_give_the_games_that_fit_and_no_others,
            a_filter_that_names_nothing_is_refused_with_what_to_do,
            what_an_excluded_machine_played_is_read_only_when_all_is_asked_for,
            what_was_played_on_after_a_rule_is_no_part_of_the_game, what_a_machine_wrote_beside_its_game_is_not_served,
            a_slow_client_holds_no_reader_and_no_transaction_and_gets_the_whole_file,
            an_address_has_eight_downloads_and_others_still_get_theirs,
            clients_that_do_not_read_give_their_places_up_to_those_that_do,
            filters_that_nothing_fits_leave_visitors_and_other_downloads_served, a_client_that_goes_away_ends_its_download,
            the_check_finds_games_that_the_archive_lacks, a_file_that_cannot_be_read_breaks_the_reply_off_and_is_not_a_shorter_one,
            games_that_were_dropped_are_named_by_page_document_check_and_reply)
    finally:
        server.close()


if __name__ == "__main__":
    main()
