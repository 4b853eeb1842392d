#!/usr/bin/python3
"""Games that a rule of adjudication ended and that were played on, over real HTTP: which games they are, what the server takes as
their other end, what it says of the rules, and that a machine cannot say what did not happen."""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import ADJUDICATION, add_test, sql  # noqa: E402
from protocol import STC, batch, claim, put_games, zstd  # noqa: E402
from server import ROOT, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

EXAMPLES = {name: json.loads(text) for name, text in
            re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server" / "API.md").read_text(), re.S)}
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
DRAWN = "1/2-1/2"
TWO = {"moves": "f2f3 e7e5"}  # the rest of the mate follows
MATE = {"moves": "e7e5 g2g4 d8h4", "result": "0-1", "end": "rule", "thought_ms": [100, 300]}
REST = {**MATE, "moves": "g2g4 d8h4"}
BATCH = 250
server = anyone = worker = task = None
wanted = []


def game(pair, white, result="0-1", moves="f2f3"):
    """Ended by a rule of the test: the loser sees that it is lost, and a game of one move each is a draw."""
    plies = len(moves.split())
    return {"pair": pair, "opening": task["openings"][0], "new_is": white, "result": result, "end": "adjudication", "reason": "",
            "moves": moves, "clock_ms": [10100] * plies, "scores": [0] * (plies - 1) + [0 if result == DRAWN else -700],
            "depths": [9] * plies, "nodes": [1000] * plies}


def put(number, document, machine=None):
    return (machine or worker).api("PUT", f"/tasks/{task['id']}/endings/{number}", document)


def post_first_batch(**changes):
    """Black wins all games by rule, but those in `changes`, by their numbers."""
    lines = [game(task["first_pair"] + i // 2, ("white", "black")[i % 2], **changes.get(str(i), {})) for i in range(2 * BATCH)]
    points = [1 if line["result"] == DRAWN else 2 * ((line["result"] == "1-0") == (line["new_is"] == "white")) for line in lines]
    sha = put_games(worker, task["id"], 0, zstd(("\n".join(map(json.dumps, lines)) + "\n").encode())).json["sha256"]
    outcomes = "".join(str(points[i] + points[i + 1]) for i in range(0, 2 * BATCH, 2))
    return worker.api("POST", f"/tasks/{task['id']}/batches", batch(
        0, outcomes, games=sha, tc=STC, wins=points.count(2), losses=points.count(0), draws=points.count(1)))


def the_task_names_one_game_in_a_hundred():
    global task, wanted
    task = claim(worker).json
    wanted = task["play_on"]
    true(wanted == sorted(set(wanted)) and all(0 <= number < 2 * task["pairs"] for number in wanted), f"numbers of games: {wanted}")
    true(task["pairs"] // 100 <= len(wanted) <= task["pairs"] // 25, f"of {task['pairs']} pairs: {len(wanted)}")
    wanted = [number for number in wanted if number < 2 * BATCH]
    true(len(wanted) >= 5, f"the first batch has enough of them, or the seed of this script must change: {wanted}")


def the_other_end_follows_its_batch():
    equal(put(wanted[0], MATE).code, "ending_early")
    result = post_first_batch(**{str(wanted[1]): {"result": "1-0", **TWO}, str(wanted[2]): {"result": DRAWN, **TWO},
                                 str(wanted[3]): {"result": DRAWN, "moves": "f2f3 g8h6"}})
    equal((result.status, result.json["counted"]), (200, True), result)


def a_lie_is_refused():
    at = wanted[0]
    other = next(number for number in range(2 * BATCH) if number not in wanted)
    for number, body, code, words in (
            (other, MATE, "not_wanted", "is not to be played on"),
            (at, {**MATE, "moves": "e7e5 g2g5"}, "replay_mismatch", "g2g5, is not legal"),
            (at, {**MATE, "result": "1-0"}, "replay_mismatch", "does not follow"),
            (at, {**MATE, "moves": "e7e5 g2g4"}, "replay_mismatch", "does not follow"),
            (at, {**MATE, "moves": "e7e5", "result": "*", "end": "open"}, "replay_mismatch", "not 400 more plies"),
            (at, {**MATE, "moves": " ".join(["g8h6", "g1h3", "h6g8", "h3g1"] * 100), "result": "*", "end": "open"}, "replay_mismatch",
             "has an end"),
            (at, {**MATE, "end": "adjudication"}, "replay_mismatch", "does not follow"),
            (at, {**MATE, "moves": "b8c6 b1c3 c6b8 c3b1 " * 101}, "replay_mismatch", "more than 400 plies"),
            (at, {**MATE, "thought_ms": [-1, 0]}, "bad_request", "thought_ms"),
            (at, {**MATE, "thought_ms": [1, 2, 3]}, "bad_request", ""),
            (at, {**MATE, "wins": 1}, "bad_request", "wins"),
            (at, {"moves": ""}, "bad_request", ""),
            (2 * task["pairs"], MATE, "bad_request", "the task has"),
            (-1, MATE, "not_found", "")):
        reply = put(number, body)
        equal(reply.code, code, f"{number} {body}: {reply}")
        contains(reply.json["error"]["message"], words)
    equal(put(at, MATE, server.worker(key="o" * 32)).code, "not_your_task")
    equal(put(at, {**MATE, "moves": "x" * (17 << 10)}).status, 413)
    equal(sql(server, "SELECT count(*) FROM endings"), [(0,)])


def endless():
    """401 plies after f2f3 without a third repetition: knights walk, and every eighth move is a pawn's."""
    pawns = iter("a2a3 a7a6 a3a4 b7b6 b2b3 b6b5 b3b4 c7c6 d2d3 c6c5 d3d4 d7d6 e2e3 d6d5 e3e4 e7e6 g2g3 e6e5 g3g4 g7g6 f3f4 f7f6 f4f5 "
                 "g6g5 a4a5".split())
    walks, at, moves = ("g8h6 h6g8".split(), "g1h3 b1c3 h3g1 c3b1".split()), [0, 0], []
    while len(moves) <= 400:
        side, number = len(moves) % 2, len(moves) // 2
        if number % 8 == 7 and side == number // 8 % 2 ^ 1:  # White's pawns and Black's in turn
            moves.append(next(pawns))
        else:
            moves.append(walks[side][at[side] % len(walks[side])])
            at[side] += 1
    return moves


def what_is_true_is_stored_once():
    at = wanted[0]
    equal((put(at, MATE).status, put(at, MATE).json), (200, {}))
    equal(put(at, {**MATE, "thought_ms": [100, 301]}).code, "ending_conflict")
    equal(sql(server, "SELECT game, ruled, judgement, thought_ms, rest_ms, counts, moves FROM endings"),
          [(at, "win", "right", 100, 300, 1, None)])


def engine():
    return anyone.api("GET", "/engines").json["items"][0]


def the_engine_shows_how_often_its_rules_are_wrong():
    equal({name: engine()["adjudication"][name] for name in ("wins", "wrong_wins", "draws", "wrong_draws", "open", "saved")},
          {"wins": 1, "wrong_wins": 0, "draws": 0, "wrong_draws": 0, "open": 0, "saved": 0.75})
    equal(put(wanted[1], REST).status, 200)
    equal(put(wanted[2], REST).status, 200)
    equal(put(wanted[3], {**MATE, "moves": " ".join(endless()[1:]), "result": "*", "end": "open"}).text, "{}")
    equal({name: engine()["adjudication"][name] for name in ("wins", "wrong_wins", "draws", "wrong_draws", "open")},
          {"wins": 2, "wrong_wins": 1, "draws": 1, "wrong_draws": 1, "open": 1})
    equal(sql(server, "SELECT moves FROM endings WHERE judgement = 'wrong'"), [(REST["moves"],)] * 2)
    words = ("Rules of adjudication ended 4 games that were then played on. They gave a win in 2, wrongly in 1, and a draw in 1, "
             "wrongly in 1. Without an end after 400 more plies: 1. In these games the rules saved 75.0\u00a0% of the thinking time.")
    equal(engine()["adjudication"]["words"], words)
    contains(anyone.get("/engines").text, words)
    equal(sorted(engine()), sorted(EXAMPLES["engines.reply"]["items"][0]))


def an_excluded_machine_has_no_say_in_it():
    boss = server.client("boss")
    equal(boss.api("POST", "/tests/1/exclude", {"kind": "machine", "worker": worker.worker, "which": "all", "reason": "odd"}).status, 200)
    equal(engine()["adjudication"], None)
    equal(boss.api("POST", "/tests/1/include", {"exclusion": 1}).status, 200)
    equal(engine()["adjudication"]["wins"], 2)
    contains(server.command("check", server.data), "0 differences")


def games_that_are_gone_are_no_fault():
    sha = sql(server, "SELECT games_sha256 FROM batches WHERE seq = 0")[0][0]
    (server.data / "blobs" / sha[:2] / sha).unlink()
    equal(put(wanted[4], MATE).code, "no_games")


def main():
    global server, anyone, worker
    with tempfile.TemporaryDirectory() as folder:
        book = pathlib.Path(folder) / "book.epd"
        book.write_text(START + "\n")
        with Server(init_options=["--book", str(book)], start=False) as server:
            server.add_user("boss", "maintainer")
            rules = json.dumps({**ADJUDICATION, "resign_count": 1, "max_moves": 1})
            add_test(server, tc="10+0.1", batch_pairs=BATCH, seed=2, title="One that is played on", adjudication=rules)
            sql(server, "INSERT INTO settings (name, value) VALUES ('task_seconds', '100000') ON CONFLICT DO UPDATE SET value = '100000'")
            server.start()
            anyone, worker = server.client(), server.worker()
            run(the_task_names_one_game_in_a_hundred, the_other_end_follows_its_batch, a_lie_is_refused, what_is_true_is_stored_once,
                the_engine_shows_how_often_its_rules_are_wrong, an_excluded_machine_has_no_say_in_it, games_that_are_gone_are_no_fault)


if __name__ == "__main__":
    main()
