#!/usr/bin/python3
"""What machines count of the things that engines say about their moves, over real HTTP: what is refused, when a side is flagged,
who shows it, and that it decides nothing."""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql, write_plain_book  # noqa: E402
from protocol import STC, batch, claim, games_body, put_games  # noqa: E402
from server import ROOT, Client, Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

EXAMPLE = json.loads(re.search(r"```json batch.request\n(.*?)```", (ROOT / "server" / "API.md").read_text(), re.S)[1])["said"]
KINDS = ("illegal_pv", "other_move", "false_mate", "no_score")
GAMES, PLIES_MAX = 8, 2048
server = anyone = boss = None
tasks = {}


def side(moves, **wrong):
    return {"moves": moves, **dict.fromkeys(KINDS, 0), **wrong}


def said(new, base=None):
    return {"new": new, "base": base or side(new["moves"])}


def post(worker, told, outcomes="2222", seq=None, **fields):
    """The next batch of the machine, or batch `seq` of its task."""
    if worker.worker not in tasks or seq is None and tasks[worker.worker][1] == 8:
        tasks[worker.worker] = [claim(worker, cores=8).json["id"], 0]
    task = tasks[worker.worker]
    reply = worker.api("POST", f"/tasks/{task[0]}/batches",
                       batch(task[1] if seq is None else seq, outcomes, **{"tc": STC, "said": told, **fields}))
    task[1] += seq is None and reply.status == 200
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
                        (said(side(most + 1)), f"side new cannot have made {most + 1} moves in 8 games"),
                        (said(side(20), side(11)), "20 and 11 moves: in 8 games the sides move in turn"),
                        (said(side(11), side(20)), "11 and 20 moves: in 8 games the sides move in turn")):
        reply = post(worker, told)
        equal((reply.status, reply.code, reply.json["error"]["field"]), (422, "bad_counts", "said"), told)
        contains(reply.json["error"]["message"], words)
    equal(sql(server, "SELECT count(*) FROM said"), [(0,)])


def a_batch_keeps_them_and_a_repeat_must_agree():
    worker = server.worker(key="a" * 32, name="first")
    equal(post(worker, said(side(8192), side(8190))).json["counted"], True)  # all that eight games can have
    for told, code in ((said(side(8192), side(8190)), None), (said(side(8192), side(8189)), "batch_conflict"),
                       (said(side(8192, no_score=1), side(8190)), "batch_conflict"), (None, "batch_conflict")):
        reply = post(worker, told, seq=0)
        equal((reply.code, reply.json.get("repeat")), (code, None if code else True), told)
    equal(post(worker, None).json["counted"], True)  # they may be absent
    equal(post(worker, said(side(1)), seq=1).code, "batch_conflict")
    equal(post(worker, None, seq=1).json["repeat"], True)
    test = document()
    equal(test["said"]["sides"], [{"side": "new", **side(8192), "wrong": 0, "flagged": False},
                                  {"side": "base", **side(8190), "wrong": 0, "flagged": False}])
    equal((test["said"]["machines"], test["said_warning"]), ([], None))


def three_moves_and_one_in_ten_thousand_flag_a_side():
    worker = server.worker(key="a" * 32, name="first")
    before = document()["stats"]
    post(worker, said(side(8192, illegal_pv=1, no_score=1), side(8192)))
    equal(document()["said_warning"], None)  # two
    post(worker, said(side(8192, other_move=1), side(8192)))
    sentence = "What side new says is wrong for 3 of its 24576 moves: 1 with an illegal move in the PV, 1 with a PV that " \
               "begins with another move, 1 with no score or no depth."
    test = document()
    equal(test["said_warning"], sentence)
    true(sentence in test["warnings"], "it is one of the warnings")
    equal([s["flagged"] for s in test["said"]["sides"]], [True, False])
    page = anyone.get("/tests/1").words
    contains(page, sentence)
    contains(page, "What the engines said")
    post(worker, said(side(5423), side(5423)))
    equal(document()["said_warning"][:58], "What side new says is wrong for 3 of its 29999 moves: 1 wi")
    post(worker, said(side(1), side(1)))
    equal(document()["said_warning"], None)  # 3 of 30,000 are not more
    after = document()
    equal((after["state"], after["stats"]["llr"] is not None, after["stats"]["ptnml"][2] - before["ptnml"][2]), ("active", True, 16))


def the_page_tells_whether_it_is_the_engine_or_one_machine():
    liar, other = server.worker(key="b" * 32, name="<b>odd</b>"), server.worker(key="c" * 32, name="third")
    post(liar, said(side(8192), side(8192, false_mate=40)))
    contains(document()["said_warning"], "What side base says is wrong for 40 of its 38190 moves: 40 with a mate that does not hold; 1 of 2 machines shows it.")
    post(other, said(side(8192), side(8192)))
    contains(document()["said_warning"], "; 1 of 3 machines shows it.")
    post(other, said(side(8192), side(8192, no_score=1)))
    contains(document()["said_warning"], "; 2 of 3 machines show it.")
    machines = document()["said"]["machines"]
    equal([(m["side"], m["name"], m["moves"], m["wrong"]) for m in machines],
          [("base", "<b>odd</b>", 8192, 40), ("base", "third", 16384, 1), ("base", "first", 29998, 0)])
    contains(anyone.get("/tests/1").text, "&lt;b&gt;odd&lt;/b&gt;")
    equal(boss.api("POST", "/tests/1/exclude", {"worker": liar.worker, "which": "all"}).status, 200)
    equal((document()["said_warning"], document()["said"]["machines"]), (None, []))
    post(liar, said(side(8192), side(8192, false_mate=8192)))  # excluded from now on as well
    equal(document()["said_warning"], None)


def lies_decide_nothing():
    """Every move wrong, of both sides: the test goes on as if nothing had been said."""
    worker = server.worker(key="d" * 32, name="slander")
    before = document()["stats"]
    for _ in range(3):
        everything = side(8192, illegal_pv=8192)
        reply = post(worker, said(everything, everything))
        equal((reply.json["counted"], reply.json["continue"]), (True, True))
    after = document()
    equal((after["state"], after["failures"], after["exclusions"][0]["worker_name"]), ("active", [], "<b>odd</b>"))
    equal(after["stats"]["ptnml"], [before["ptnml"][0], before["ptnml"][1], before["ptnml"][2] + 12, *before["ptnml"][3:]])
    contains(after["said_warning"], "; 2 of 3 machines show it.")
    true("slander" == after["said"]["machines"][0]["name"], after["said"])
    contains(server.command("check", server.data), "0 differences")


def moves_that_were_never_played_are_found_by_the_replay():
    """An engine's mistakes cannot hide behind moves that it did not make."""
    server.command("set", server.data, "replay_share", "1")
    for key, moves in (("e", 32), ("f", 33)):
        worker = server.worker(key=key * 32, name=f"replayed-{key}")
        dealt = claim(worker).json
        text = games_body(dealt["first_pair"], 4, 8, dealt["openings"])
        sha = put_games(worker, dealt["id"], 0, text).json["sha256"]
        told = said(side(moves), side(32))
        equal(worker.api("POST", f"/tasks/{dealt['id']}/batches", batch(0, "2222", sha, tc=STC, said=told)).json["counted"], True)
    wait_until(lambda: document()["replays"]["batches"] == 2)
    equal([(fault["worker_name"], fault["fault"]) for fault in document()["replays"]["faults"]],
          [("replayed-f", "the games have 64 moves, and what engines said was counted for 65")])
    contains(server.command("check", server.data), "0 differences")


def the_example_of_the_document_is_taken():
    worker = server.worker(key="g" * 32, name="exemplary")
    equal(post(worker, EXAMPLE).json["counted"], True)


def the_server_ends_well():
    equal(server.stop(), 0, "exit status")


def main():
    global server, anyone, boss
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        server = Server(init_options=["--book", str(write_plain_book(pathlib.Path(folder) / "book.epd"))], start=False)
    try:
        add_test(server, tc="10+0.1")
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
