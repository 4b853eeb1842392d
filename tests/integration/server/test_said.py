#!/usr/bin/python3
# test: sanitized only
"""What machines count of the things that engines say about their moves, over real HTTP: what is refused, when a side is flagged,
who shows it, and that it decides nothing."""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql  # noqa: E402
from played import played_batch  # noqa: E402
from protocol import claim  # noqa: E402
from server import ROOT, Client, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

EXAMPLE = json.loads(re.search(r"```json batch.request\n(.*?)```", (ROOT / "server" / "API.md").read_text(), re.S)[1])["said"]
KINDS = ("illegal_pv", "other_move", "false_mate", "no_score")
PAIRS = 750  # of a batch, all drawn after four moves of each side
GAMES, PLIES_MAX, MOVES = 2 * PAIRS, 2048, 8 * PAIRS
server = anyone = boss = None
posted = {}  # by machine: the task, the counts and whether they are stored


def side(moves, **wrong):
    return {"moves": moves, **dict.fromkeys(KINDS, 0), **wrong}


def said(new, base=None):
    return {"new": new, "base": base or side(new["moves"])}


def post(worker, told, number=None):
    """The machine's next batch, or once more its batch `number`. Each has a task of its own."""
    batches = posted.setdefault(worker.worker, [])
    if number is None and (not batches or batches[-1][2]):
        task = claim(worker, cores=8).json
        batches.append([task["id"], played_batch(worker, task, 0, "2" * PAIRS), False])
    task, counts, _ = batches[-1 if number is None else number]
    reply = worker.api("POST", f"/tasks/{task}/batches", {**counts, "said": told})
    batches[-1][2] |= reply.status == 200
    return reply


def document(test=1):
    return anyone.api("GET", f"/tests/{test}").json


def counts_that_cannot_be_are_refused():
    worker = server.worker(key="a" * 32, name="first")
    most = GAMES * PLIES_MAX // 2
    for told in ("x", 1, [], {}, {"new": side(1)}, {**said(side(1)), "more": side(1)}, {"new": [], "base": []},
                 said({"moves": 1}), said({**side(1), "more": 0}),
                 said(side(1.5)), said(side("1")), said(side(None)), said(side(True)), said(side(-1)), said(side(2**31)), said(side(2**62)),
                 said(side(5, illegal_pv=-1)), said(side(5, no_score="1"))):
        reply = post(worker, told)
        equal((reply.status, reply.code, reply.json["error"]["field"]), (422, "bad_request", "said"), told)
    for told, words in ((said(side(5, illegal_pv=6)), "side new was wrong about more moves than it made"),
                        (said(side(5, illegal_pv=3, false_mate=3)), "side new was wrong about more moves than it made"),
                        (said(side(5), side(4, no_score=5)), "side base was wrong about more moves than it made"),
                        (said(side(most + 1)), f"side new cannot have made {most + 1} moves in {GAMES} games"),
                        (said(side(1520), side(11)), "1520 and 11 moves: in 1500 games the sides move in turn"),
                        (said(side(11), side(1520)), "11 and 1520 moves: in 1500 games the sides move in turn")):
        reply = post(worker, told)
        equal((reply.status, reply.code, reply.json["error"]["field"]), (422, "bad_counts", "said"), told)
        contains(reply.json["error"]["message"], words)
    equal(sql(server, "SELECT count(*) FROM said"), [(0,)])


def a_batch_keeps_them_and_a_repeat_must_agree():
    worker = server.worker(key="a" * 32, name="first")
    equal(post(worker, said(side(MOVES), side(MOVES))).json["counted"], True)
    for told, code in ((said(side(MOVES), side(MOVES)), None), (said(side(MOVES), side(MOVES - 1)), "batch_conflict"),
                       (said(side(MOVES, no_score=1), side(MOVES)), "batch_conflict"), (None, "batch_conflict")):
        reply = post(worker, told, 0)
        equal((reply.code, reply.json.get("repeat")), (code, None if code else True), told)
    equal(post(worker, None).json["counted"], True)  # they may be absent
    equal(post(worker, said(side(1)), 1).code, "batch_conflict")
    equal(post(worker, None, 1).json["repeat"], True)
    test = document()
    equal(test["said"]["sides"], [{"side": "new", **side(MOVES), "wrong": 0, "flagged": False},
                                  {"side": "base", **side(MOVES), "wrong": 0, "flagged": False}])
    equal((test["said"]["machines"], test["said_warning"]), ([], None))


def three_moves_and_one_in_ten_thousand_flag_a_side():
    worker = server.worker(key="a" * 32, name="first")
    before = document()["stats"]
    post(worker, said(side(MOVES, illegal_pv=1, no_score=1), side(MOVES)))
    equal(document()["said_warning"], None)  # two
    post(worker, said(side(MOVES, other_move=1), side(MOVES)))
    sentence = "What side new says is wrong for 3 of its 18000 moves: 1 with an illegal move in the PV, 1 with a PV that " \
               "begins with another move, 1 with no score or no depth."
    test = document()
    equal(test["said_warning"], sentence)
    true(sentence in test["warnings"], "it is one of the warnings")
    equal([s["flagged"] for s in test["said"]["sides"]], [True, False])
    page = anyone.get("/tests/1").words
    contains(page, sentence)
    contains(page, "What the engines said")
    post(worker, said(side(MOVES), side(MOVES)))
    equal(document()["said_warning"][:58], "What side new says is wrong for 3 of its 24000 moves: 1 wi")
    post(worker, said(side(MOVES), side(MOVES)))
    equal(document()["said_warning"], None)  # 3 of 30,000 are not more
    after = document()
    equal((after["state"], after["stats"]["llr"] is not None, after["stats"]["ptnml"][2] - before["ptnml"][2]), ("active", True, 4 * PAIRS))


def the_page_tells_whether_it_is_the_engine_or_one_machine():
    liar, other = server.worker(key="b" * 32, name="<b>odd</b>"), server.worker(key="c" * 32, name="third")
    post(liar, said(side(MOVES), side(MOVES, false_mate=40)))
    contains(document()["said_warning"], "What side base says is wrong for 40 of its 36000 moves: 40 with a mate that does not hold; 1 of 2 machines shows it.")
    post(other, said(side(MOVES), side(MOVES)))
    contains(document()["said_warning"], "; 1 of 3 machines shows it.")
    post(other, said(side(MOVES), side(MOVES, no_score=1)))
    contains(document()["said_warning"], "; 2 of 3 machines show it.")
    machines = document()["said"]["machines"]
    equal([(m["side"], m["name"], m["moves"], m["wrong"]) for m in machines],
          [("base", "<b>odd</b>", MOVES, 40), ("base", "third", 2 * MOVES, 1), ("base", "first", 5 * MOVES, 0)])
    contains(anyone.get("/tests/1").text, "&lt;b&gt;odd&lt;/b&gt;")
    equal(boss.api("POST", "/tests/1/exclude", {"kind": "machine", "worker": liar.worker, "which": "all"}).status, 200)
    equal((document()["said_warning"], document()["said"]["machines"]), (None, []))
    post(liar, said(side(MOVES), side(MOVES, false_mate=MOVES)))  # excluded from now on as well
    equal(document()["said_warning"], None)


def lies_decide_nothing():
    """Every move wrong, of both sides: the test goes on as if nothing had been said."""
    worker = server.worker(key="d" * 32, name="slander")
    before = document()["stats"]
    for _ in range(3):
        everything = side(MOVES, illegal_pv=MOVES)
        reply = post(worker, said(everything, everything))
        equal((reply.json["counted"], reply.json["why"]), (True, "done"))
    after = document()
    equal((after["state"], after["failures"], after["exclusions"][0]["what"]), ("active", [], "of machine <b>odd</b>"))
    equal(after["stats"]["ptnml"], [before["ptnml"][0], before["ptnml"][1], before["ptnml"][2] + 3 * PAIRS, *before["ptnml"][3:]])
    contains(after["said_warning"], "; 2 of 3 machines show it.")
    true("slander" == after["said"]["machines"][0]["name"], after["said"])
    contains(server.command("check", server.data), "0 differences")


def moves_that_were_never_played_are_found_by_the_replay():
    """An engine's mistakes cannot hide behind moves that it did not make."""
    honest, liar = (server.worker(key=key * 32, name=f"replayed-{key}") for key in "ef")
    equal(post(honest, said(side(MOVES))).json["counted"], True)
    reply = post(liar, said(side(MOVES + 1), side(MOVES)))
    equal((reply.status, reply.json["error"]["message"]),
          (422, "batch 0: the games have 12000 moves, and what engines said was counted for 12001"))
    equal([(failure["kind"], failure["worker_name"]) for failure in document()["failures"]], [("games", "replayed-f")])
    contains(server.command("check", server.data), "0 differences")


def the_example_of_the_document_is_taken():
    worker = server.worker(key="g" * 32, name="exemplary")
    moves = sum(EXAMPLE[name]["moves"] for name in ("new", "base"))
    contains(post(worker, EXAMPLE).json["error"]["message"], f"and what engines said was counted for {moves}")


def the_server_ends_well():
    equal(server.stop(), 0, "exit status")


def main():
    global server, anyone, boss
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        book = pathlib.Path(folder) / "book.epd"
        book.write_text("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n")  # knights alone can go and come back
        server = Server(init_options=["--book", str(book)], start=False)
    try:
        add_test(server, tc="10+0.1", batch_pairs=PAIRS)
        server.command("set", server.data, "task_seconds", "1")  # one batch a task
        server.add_user("dev", "developer")
        server.add_user("boss", "maintainer")
        server.start()
        anyone, boss = Client(server), server.client("boss")
        run(counts_that_cannot_be_are_refused, a_batch_keeps_them_and_a_repeat_must_agree,
            three_moves_and_one_in_ten_thousand_flag_a_side, the_page_tells_whether_it_is_the_engine_or_one_machine,
            lies_decide_nothing, moves_that_were_never_played_are_found_by_the_replay, the_example_of_the_document_is_taken,
            the_server_ends_well)
    finally:
        server.close()


if __name__ == "__main__":
    main()
