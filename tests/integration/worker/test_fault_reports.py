#!/usr/bin/python3
# test: sanitized only
"""What machines tell beside results, over real HTTP: their load and the flags of batches, fault reports of games that an engine lost
by its own fault, how fast they are, and how they are confined; and what a maintainer can do about it."""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql, write_plain_book  # noqa: E402
from played import cut, played, played_batch, post_batch, upload  # noqa: E402
from protocol import STC, batch, changed, claim, zstd  # noqa: E402
from server import ROOT, Client, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

EXAMPLES = {name: json.loads(text) for name, text in
            re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server" / "API.md").read_text(), re.S)}
EVIL = "<script>alert(1)</script>\x1b[31m & so on"
FAULTS = {"crashes": 1, "time_losses": 1}  # of which there is fault reports later
server = anyone = worker = task = None
uploaded = {}


def fault_report(**fields):
    return {**EXAMPLES["fault_report.request"], "pair": task["first_pair"], **fields}


def put(seq, document, headers=None):
    return worker.api("PUT", f"/tasks/{task['id']}/faults/{seq}", document, headers)


def post(seq, **fields):
    return worker.api("POST", f"/tasks/{task['id']}/batches", counts(seq, **fields))


def counts(seq, **fields):
    """Of games that are uploaded once: a repeat may say something else of them."""
    if seq not in uploaded:
        uploaded[seq] = played_batch(worker, task, seq, "1322", **({"tc": STC, **fields} if seq else {"tc": STC, **FAULTS}))
    return changed(uploaded[seq], fields)


def a_batch_reports_the_load_of_its_machine():
    good = EXAMPLES["batch.request"]["load"]
    for load in ("x", [], {"delay": -1}, {"delay": "0"}, {"delay": 2}, {"swap_mib": None, "wings": 1}, {"speed": 1e13}):
        reply = post(0, load=load)
        equal((reply.status, reply.json["error"]["field"]), (422, "load"), load)
    equal(post(0, load=good, **FAULTS).json["counted"], True)
    equal(post(0, load=good, **FAULTS).json["repeat"], True)
    equal(post(0, load={**good, "delay": 0.5}, **FAULTS).code, "batch_conflict")
    equal(post(1, load=None, busy=0.5).json["counted"], True)
    equal(post(2, load={"speed": 100, "speed_before": 200, "swap_mib": 100, "rest_new": 2.5, "rest_base": 0.04}).json["counted"], True)
    test = anyone.api("GET", "/tests/1").json
    equal(test["flagged"], {"pairs": 8, "machines": 1, "busy_pairs": 4, "slow_pairs": 4, "swap_pairs": 4})
    equal(test["workers"][0]["pairs_flagged"], 8)
    page = anyone.get("/tests/1").words
    contains(page, "Flagged pairs: 8 (machines: 1)")
    contains(page, "busy with other programs (4), slower than at first (4), short of memory (4)")


def the_cpu_time_of_a_side_while_the_other_was_to_move_is_shown():
    test = anyone.api("GET", "/tests/1").json
    equal(test["rest"], {"new": 2.5, "base": 0.04 + EXAMPLES["batch.request"]["load"]["rest_base"]})
    sentence = "While the other side was to move, the new side used 2.5\u00a0s of CPU time and the base 0.1\u00a0s."
    equal(test["rest_warning"], sentence)
    true(sentence in test["warnings"], "it is one of the warnings")
    contains(anyone.get("/tests/1").text, sentence)


def an_operator_sets_the_limits():
    server.command("set", server.data, "flag_busy", "0.9")
    equal(post(3, busy=0.8).json["counted"], True)
    equal(sql(server, "SELECT flags FROM batches WHERE seq = 3"), [("",)])
    equal(server.command("set", server.data, "flag_busy", "9", check=False).returncode, 1)
    equal(server.command("set", server.data, "sandbox_min", "3", check=False).returncode, 1)
    listed = server.command("set", server.data)
    contains(listed, "flag_busy 0.9\n")
    for name in ("flag_slow", "flag_swap_mib", "sandbox_min"):
        contains(listed, f"  {name} ")
    contains(server.command("check", server.data), "0 differences")


def fault_report_is_taken_once_and_shown():
    first = fault_report(reason=EVIL[:25], protocol_log={"new": EVIL, "base": "> go\n"}, errors={"new": "boom " + "long" * 500})
    equal((put(0, first).status, put(0, first).json), (200, {}))
    equal(put(0, fault_report()).code, "fault_conflict")
    packed = worker.request("PUT", f"/api/v1/tasks/{task['id']}/faults/1", zstd(json.dumps(fault_report(
        side="base", end="time", overloaded=True)).encode()), {"Content-Encoding": "zstd", "Content-Type": "application/json"})
    equal(packed.status, 200, packed)
    faults = anyone.api("GET", "/tests/1/faults").json
    equal((faults["total"], faults["kept"]), (2, 2))
    equal(faults["counts"], [{"end": "crash", "side": "new", "count": 1, "overloaded": 0},
                             {"end": "time", "side": "base", "count": 1, "overloaded": 1}])
    equal([item["end"] for item in faults["items"]], ["time", "crash"])
    fault = anyone.api("GET", f"/faults/{faults['items'][1]['id']}").json
    equal((fault["pgn"], fault["protocol_log"]["new"]), (first["pgn"], EVIL))
    equal(fault["fault"]["worker_name"], "tester")


def what_engines_said_cannot_break_out_of_a_page():
    for path in ("/tests/1", "/tests/1/faults", "/faults/1"):
        reply = anyone.get(path)
        equal(reply.status, 200, reply)
        true("<script>alert" not in reply.text, path)
    contains(anyone.get("/faults/1").text, "&lt;script&gt;alert(1)")
    contains(anyone.get("/tests/1").text, "loss on time")
    contains(anyone.get("/tests/1").text, "machine overloaded")


def fault_report_of_the_wrong_shape_is_refused():
    for change, field in (({"side": "x"}, "side"), ({"end": "rule"}, "end"), ({"game": 2}, "game"), ({"pair": 10 ** 6}, "pair"),
                          ({"reason": "r" * 161}, "reason"), ({"protocol_log": {"new": 1}}, "protocol_log"), ({"errors": {"old": ""}}, "errors"),
                          ({"protocol_log": []}, "protocol_log"), ({"more": 1}, "more")):
        reply = put(2, fault_report(**change))
        equal((reply.status, reply.json["error"]["field"]), (422, field), change)
    equal(put(10, fault_report()).status, 404)
    equal(put(2, fault_report(pgn="x" * (256 << 10))).status, 413)
    bomb = zstd(json.dumps(fault_report(pgn="x" * (300 << 10))).encode())
    reply = worker.request("PUT", f"/api/v1/tasks/{task['id']}/faults/2", bomb, {"Content-Encoding": "zstd"})
    equal(reply.status, 413, reply)
    equal(server.worker(key="o" * 32).api("PUT", f"/tasks/{task['id']}/faults/2", fault_report()).code, "not_your_task")
    equal(sql(server, "SELECT count(*) FROM fault_reports"), [(2,)])
    equal(anyone.api("GET", "/faults/99").code, "no_such_fault")
    equal(anyone.get("/faults/99").status, 404)
    equal(anyone.get("/tests/99/faults").status, 404)


def the_metrics_count_faults_and_marks():
    text = anyone.get("/metrics").text
    contains(text, "\npatchmate_faults 2\n")
    contains(text, "\npatchmate_batches_flagged 2\n")


def a_machine_shows_its_speed_and_its_instruction_set():
    machine = anyone.api("GET", f"/machines/{worker.worker}").json["machine"]
    equal((machine["speed"], machine["host"]["isa"]), (1234567.0, "x86-64-v2"))
    contains(anyone.get("/machines").text, "x86-64-v2")


def give_back(machine, dealt):
    """A batch under way would come before batches of other machines."""
    equal(machine.api("POST", f"/tasks/{dealt['id']}/release", {"started_pairs": 0}).status, 200)


def a_machine_with_too_low_a_sandbox_level_gets_no_work_and_learns_what_to_install():
    server.command("set", server.data, "sandbox_min", "2")
    host = {**EXAMPLES["workers.request"]["host"], "sandbox": 1}
    open_one = server.worker(key="p" * 32, host=host)
    reply = claim(open_one)
    equal((reply.status, reply.code), (403, "sandbox_required"))
    contains(reply.json["error"]["message"], "apt install bubblewrap")
    other = server.worker(key="o" * 32)
    give_back(other, claim(other).json)
    server.command("set", server.data, "sandbox_min", "1")
    give_back(open_one, claim(open_one).json)


def stats():
    """All but what depends on the hour."""
    return {name: value for name, value in anyone.api("GET", "/tests/1").json["stats"].items() if name != "eta"}


def a_maintainer_excludes_marked_batches_and_takes_it_back():
    dev, boss = server.client("dev"), server.client("boss")
    before = stats()
    body = {**EXAMPLES["exclude.request"], "worker": worker.worker}
    equal(dev.api("POST", "/tests/1/exclude", body).code, "forbidden")
    equal(anyone.api("POST", "/tests/1/exclude", body).status, 401)
    for change, code in (({"worker": 99}, "no_such_machine"), ({"which": "lost"}, "bad_request"), ({"kind": "engine"}, "bad_request"),
                          ({"reason": "r" * 400}, "bad_field")):
        equal(boss.api("POST", "/tests/1/exclude", {**body, **change}).code, code, change)
    reply = boss.api("POST", "/tests/1/exclude", body)
    equal(sorted(reply.json), sorted(EXAMPLES["exclude.reply"]), reply)
    equal((reply.json["batches"], reply.json["pairs"]), (2, 8))
    equal(boss.api("POST", "/tests/1/exclude", body).code, "nothing_to_exclude")
    after = anyone.api("GET", "/tests/1").json
    equal(after["stats"]["pairs"], before["pairs"] - 8)
    equal((after["exclusions"][0]["which"], after["exclusions"][0]["pairs"], after["exclusions"][0]["user"]), ("flagged", 8, "boss"))
    contains(anyone.get("/tests/1").words, "8 pairs (it was short of memory)")
    contains(server.command("check", server.data), "0 differences")
    page = boss.get("/tests/1").text
    contains(page, 'action="/tests/1/include"')
    contains(page, 'action="/tests/1/exclude"')
    equal(boss.form("/tests/1/include", {"exclusion": 1}).status, 303)
    equal(boss.api("POST", "/tests/1/include", {"exclusion": 1}).code, "not_excluded")
    equal(stats(), before)
    equal(boss.form("/tests/1/exclude", {"kind": "machine", "worker": "", "which": "all"}).status, 422)
    equal(boss.form("/tests/1/exclude", {"kind": "machine", "worker": worker.worker, "which": "all", "reason": ""}).status, 303)
    equal(anyone.api("GET", "/tests/1").json["workers"], [])
    equal(post(4).json["counted"], False)
    equal(boss.form("/tests/1/include", {"exclusion": 2}).status, 303)
    equal([e["type"] for e in anyone.api("GET", "/events?type=excluded").json["items"]], ["excluded"] * 4)
    contains(server.command("check", server.data), "0 differences")


def a_blocked_machine_gets_no_work_and_its_results_do_not_count():
    dev, boss = server.client("dev"), server.client("boss")
    path = f"/machines/{worker.worker}"
    equal(dev.api("POST", path + "/block", {}).code, "forbidden")
    contains(boss.get(path).text, f'action="{path}/block"')
    reply = boss.api("POST", path + "/block", EXAMPLES["block.request"])
    equal(sorted(reply.json), sorted(EXAMPLES["block.reply"]), reply)
    equal(boss.api("POST", path + "/block").code, "wrong_state")
    equal(worker.api("POST", f"/tasks/{task['id']}/heartbeat", {"phase": "play", "plies": 9, "started_pairs": 9}).json["continue"], False)
    equal(claim(worker).code, "blocked")
    equal(post(5).json["counted"], False)
    contains(anyone.get(path).text, "blocked")
    contains(boss.get(path).text, f'action="{path}/unblock"')
    equal(boss.form(path + "/unblock", {}).status, 303)
    give_back(worker, claim(worker).json)
    contains(anyone.api("GET", "/events?type=blocked").json["items"][0]["message"], "its clock runs backwards")
    contains(server.command("check", server.data), "0 differences")
    equal(boss.api("POST", "/machines/99/block").code, "no_such_machine")


def games_are_replayed_and_invented_ones_are_refused():
    honest, liar = server.worker(key="h" * 32, name="honest"), server.worker(key="l" * 32, name="liar")
    of_honest = claim(honest).json
    equal(post_batch(honest, of_honest, 0, "2222").json["counted"], True)
    give_back(honest, of_honest)
    before, dealt = stats(), claim(liar).json
    invented = played(dealt, 0, "2222")
    cut(invented[0], 4)
    sha = upload(liar, dealt, 0, invented).json["sha256"]
    replies = [liar.api("POST", f"/tasks/{dealt['id']}/batches", batch(0, "2222", sha, tc=STC)) for _ in range(2)]
    for reply in replies:
        equal((reply.status, reply.code, reply.json["error"]["message"]),
              (422, "replay_mismatch", "batch 0: game 1: its result does not follow from how it ended"))
    test = anyone.api("GET", "/tests/1").json
    equal((stats(), [(f["kind"], f["worker_name"], f["heading"]) for f in test["failures"]]),
          (before, [("games", "liar", "Games that cannot have been played")]))
    true("honest" in [w["name"] for w in test["workers"]] and "liar" not in [w["name"] for w in test["workers"]], "who counts")
    contains(anyone.get("/tests/1").words, "Games that cannot have been played")
    contains(anyone.get(f"/machines/{liar.worker}").text, "its result does not follow")
    contains(anyone.get("/metrics").text, "\npatchmate_batches_refused 1\n")
    equal(claim(liar).status, 204)
    contains(server.command("check", server.data), "0 differences")


def a_side_that_computes_in_its_opponents_time_is_named():
    mine = claim(worker).json
    path, games = f"/tasks/{mine['id']}", 2 * anyone.api("GET", "/tests/1").json["stats"]["pairs"] + 8
    equal(post_batch(worker, mine, 0, "1222", ponders=1).json["counted"], True)
    sentence = f"The new side lost 1 of {games} games because it computed in its opponent's time, the base 0."
    test = anyone.api("GET", "/tests/1").json
    equal((test["rest_warning"], test["stats"]["ponders"], test["stats"]["ponders_against"]), (sentence, 1, 0))
    contains(anyone.get("/tests/1").words, sentence.replace("'", "&#39;"))
    report = {**fault_report(end="ponder", reason="White computes in its opponent's time"), "pair": mine["first_pair"]}
    equal([worker.api("PUT", f"{path}/faults/{i}", report).code for i in (0, 1)], [None, "fault_unfounded"])
    contains(anyone.get("/tests/1/faults").words, "computing in the opponent&#39;s time")
    contains(server.command("check", server.data), "0 differences")


def the_server_ends_well():
    equal(server.stop(), 0, "exit status")


def main():
    global server, anyone, worker, task
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        server = Server(init_options=["--book", str(write_plain_book(pathlib.Path(folder) / "book.epd"))], start=False)
    try:
        add_test(server, tc="10+0.1")
        server.add_user("dev", "developer")
        server.add_user("boss", "maintainer")
        server.start()
        anyone, worker = Client(server), server.worker()
        task = claim(worker, cores=8, speeds={"anvil": 1234567.0}).json
        sql(server, "UPDATE tasks SET created = created - 1000")  # a loss on time takes its time
        run(a_batch_reports_the_load_of_its_machine, the_cpu_time_of_a_side_while_the_other_was_to_move_is_shown, an_operator_sets_the_limits, fault_report_is_taken_once_and_shown,
            what_engines_said_cannot_break_out_of_a_page, fault_report_of_the_wrong_shape_is_refused, the_metrics_count_faults_and_marks,
            a_machine_shows_its_speed_and_its_instruction_set, a_maintainer_excludes_marked_batches_and_takes_it_back,
            a_blocked_machine_gets_no_work_and_its_results_do_not_count, a_machine_with_too_low_a_sandbox_level_gets_no_work_and_learns_what_to_install,
            games_are_replayed_and_invented_ones_are_refused,
            a_side_that_computes_in_its_opponents_time_is_named, the_server_ends_well)
    finally:
        server.close()


if __name__ == "__main__":
    main()
