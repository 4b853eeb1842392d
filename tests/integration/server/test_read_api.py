#!/usr/bin/python3
# test: sanitized only
"""The documents behind the pages over real HTTP: as server/API.md shows them, filtered and page by page; and that a page and
its document never disagree."""

import http.client
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import MATCHES, add_test, insert, parameters, sql, write_plain_book  # noqa: E402
from patches import with_line  # noqa: E402
from played import post_batch  # noqa: E402
from server import ROOT, Client, Server  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

EXAMPLES = {name: json.loads(text) for name, text in
            re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server" / "API.md").read_text(), re.S)}
server = dev = boss = anyone = None
OUTCOMES = "2342"


def same_shape(got, wanted, where=""):
    """Same members all the way down; null fits all, an empty list fits every list, free-form objects are not compared."""
    if got is None or wanted is None:
        return
    if isinstance(wanted, dict):
        if where.rsplit(".", 1)[-1] in ("actions", "fields", "env"):
            return
        equal(sorted(got), sorted(wanted), f"members of {where or 'the document'}")
        for name in wanted:
            same_shape(got[name], wanted[name], f"{where}.{name}")
    elif isinstance(wanted, list):
        true(isinstance(got, list), f"{where} is a list")
        if got and wanted:
            same_shape(got[0], wanted[0], where + "[]")
    else:
        number = (int, float)
        kind = number if type(wanted) in number else type(wanted)
        true(isinstance(got, kind), f"{where}: {got!r} is not like {wanted!r}")


def read(path, status=200, client=None):
    reply = (client or anyone).api("GET", path)
    equal(reply.status, status, reply)
    return reply.json


def claim(worker, key):
    reply = worker.api("POST", "/tasks/claim", {"protocol": 1, "cores": 1, "memory_mib": 8000, "speeds": {}, "snapshots": [],
                                                "holding": [], "wait_s": 0}, {"Idempotency-Key": key * 12})
    equal(reply.status, 200, reply)
    return reply.json


def play(worker, task):
    reply = post_batch(worker, task, 0, OUTCOMES, crashes=1, busy=0.01)
    equal(reply.status, 200, reply)


def set_up():
    """Test 1 accepted, 2 with a failure and open, 3 pending; 4 to 13 finished in all colours."""
    global dev, boss, anyone
    server.add_user("dev", "developer")
    server.add_user("boss", "maintainer")
    server.start()
    dev, boss, anyone = server.client("dev"), server.client("boss"), Client(server)
    worker = server.worker()
    for number, title in enumerate(("Reads well", "Does not build", "Waits"), 1):
        reply = dev.api("POST", "/tests", {"title": title, "patch": with_line("search/tt.c", f"// {title}"), "tc": "nodes=1000",
                                           "batch_pairs": len(OUTCOMES), "model": "logistic", "elo0": -300, "elo1": -100})
        equal((reply.status, reply.json.get("id")), (201, number), reply)
        if number < 3:
            equal(boss.api("POST", f"/tests/{number}/approve").status, 200)
        if number == 1:
            play(worker, claim(worker, "a"))
    failed = claim(worker, "b")
    equal(worker.api("POST", f"/tasks/{failed['id']}/fail", {
        "kind": "sandbox", "side": "new", "message": "no room", "log": "tmpfs is full\n", "bench": None, "started_pairs": 0}).status, 200)
    for i in range(9):
        accepted, simple, more_wins = i % 3 == 0, i % 2 == 0, i % 3 == 1
        add_test(server, "finished", title=f"Old one {i}", result="accepted" if accepted else "rejected", finished=100 + i // 2,
                 parameters=parameters(elo0=-1.75 if simple else 0.0, elo1=0.25 if simple else 2.0), units_counted=4,
                 counts=json.dumps({"v": 1, "ptnml": [0, 0, 4, 0, 0], "wins": 5 if more_wins else 2, "losses": 3, "draws": 0}),
                 tc="60+0.6" if i == 4 else "10+0.1")
    add_test(server, "finished", title="Too short", result="undecided", finished=1)


def the_documents_are_as_documented():
    for name, path in (("overview", "/overview"), ("tests", "/tests"), ("history", "/tests/1/history"), ("form", "/tests/form"),
                       ("events", "/events"), ("nets", "/nets"), ("machines", "/machines"), ("machine", "/machines/1"), ("suspects", "/suspects"), ("user", "/users/dev")):
        same_shape(read(path), EXAMPLES[name + ".reply"], name)
    same_shape(read("/tests/1"), {**EXAMPLES["tests.reply"]["items"][0], **EXAMPLES["test.more"]}, "test")
    same_shape(read("/tests/1/diff"), EXAMPLES["diff.reply"], "diff")


def the_document_of_a_test_has_the_counted_results():
    test = read("/tests/1")
    equal((test["state"], test["result"]), ("finished", "accepted"))
    equal(test["stats"]["ptnml"], [OUTCOMES.count(c) for c in "01234"])
    equal((test["stats"]["games"], test["stats"]["units"], test["stats"]["crashes"]), (2 * len(OUTCOMES), len(OUTCOMES), 1))
    equal(test["workers"][0]["ptnml"], test["stats"]["ptnml"])
    equal(test["workers"][0]["speed"], 1e6)
    history = read("/tests/1/history")
    equal((history["units"], history["games"]), ([len(OUTCOMES)], [2 * len(OUTCOMES)]))
    true(abs(history["points"]["llr"][-1] - test["stats"]["llr"]) < 1e-3, "the history ends where the test stands")
    equal([event["type"] for event in test["events"]], ["verdict", "started", "approved", "submitted"])


def a_failure_comes_with_its_log():
    failure = read("/tests/2")["failures"][0]
    equal((failure["kind"], failure["side"], failure["log"]), ("sandbox", "new", "tmpfs is full\n"))
    equal(read("/machines/1")["failures"][0]["test"], 2)


def the_page_shows_the_values_of_the_document():
    text = anyone.get("/tests/1").text
    contains(text, read("/tests/1")["stats"]["text"].replace("<", "&lt;").replace(">", "&gt;"))
    contains(anyone.get("/").text, "Reads well")
    contains(anyone.get("/tests/2").text, "tmpfs is full")


def actions_depend_on_the_caller_and_give_the_reason_of_a_refusal():
    pending = "/tests/3"
    equal(read(pending)["actions"]["approve"], {"ok": False, "why": "sign in first"})
    contains(read(pending, client=dev)["actions"]["approve"]["why"], "maintainer")
    equal(read(pending, client=dev)["actions"]["stop"], {"ok": True})
    equal(read(pending, client=boss)["actions"]["approve"], {"ok": True})
    true("pause" not in read(pending)["actions"], "a pending test cannot be paused")
    equal(read("/tests/1", client=boss)["actions"]["merge"],
          {"ok": True, "forward": True, "trial": False, "note": "Moves main to the commit that was tested.", "since": [], "missing": []})
    hash = read(pending)["approval_hash"]
    contains(boss.get(pending).text, hash)


def finished_tests_can_be_filtered():
    def titles(query):
        return [item["title"] for item in read("/tests?" + query)["items"]]

    equal(len(titles("limit=100")), 11)
    equal(titles("color=blue"), ["Reads well", "Old one 6", "Old one 0"])
    equal(titles("color=green"), ["Old one 3"])
    equal(titles("color=yellow"), ["Old one 7", "Old one 4", "Old one 1"])
    equal(titles("color=red"), ["Old one 8", "Old one 5", "Old one 2"])
    equal(titles("color=grey"), ["Too short"])
    equal(titles("ltc=1"), ["Old one 4"])
    equal(titles("user=DEV"), ["Reads well"])
    equal(titles("text=one%207"), ["Old one 7"])
    equal(titles("text=%25"), [])
    equal(titles("state=pending"), ["Waits"])
    equal(read("/tests?color=pink", 422)["error"]["field"], "color")
    equal(read("/tests?state=odd", 422)["error"]["field"], "state")


def pages_follow_each_other_without_gap_or_repeat():
    for path, key in (("/tests?limit=3", "id"), ("/events?limit=3", "id"), ("/machines?limit=1", "id"),
                      ("/tests?limit=1&color=red", "id")):
        seen, before = [], ""
        while True:
            page = read(path + before)
            seen += [item[key] for item in page["items"]]
            if not page["next"]:
                break
            before = "&before=" + page["next"]
        whole = [item[key] for item in read(re.sub(r"limit=\d+", "limit=200", path))["items"]]
        equal(seen, whole, path)
    equal(read("/tests?before=yesterday", 422)["error"]["code"], "bad_cursor")
    contains(anyone.get("/tests/finished").text, "Old one 0")


def events_can_be_filtered():
    equal({event["type"] for event in read("/events?type=verdict")["items"]}, {"verdict"})
    equal({event["user"] for event in read("/events?user=Boss")["items"]}, {"boss"})
    true(all("Waits" in (event["title"] or "") + event["message"] for event in read("/events?text=waits&user=dev")["items"]), "text")


def what_is_not_there_is_a_404_in_both_languages():
    for path in ("/tests/999", "/tests/x", "/machines/999", "/users/nobody", "/tests/999/history"):
        true(read(path, 404)["error"]["message"], path)
    for path in ("/tests/999", "/machines/999", "/users/nobody", "/nowhere"):
        reply = anyone.get(path)
        equal((reply.status, reply.headers["Content-Type"]), (404, "text/html; charset=utf-8"), path)
        contains(reply.text, "404")


def what_was_typed_cannot_break_out_of_a_page():
    evil = "\"><script>alert(1)</script>'"
    for path in ("/tests/finished?text=", "/events?user=", "/login?next=", "/login?name=", "/signup?name=", "/tests/new?preset="):
        text = anyone.get(path + "%22%3E%3Cscript%3Ealert(1)%3C/script%3E'").text
        true("<script>alert" not in text, path)
    reply = dev.form("/tests/new", {"title": evil, "patch": evil, "tc": evil})
    equal(reply.status, 422, reply)
    true("<script>alert" not in reply.text, "the form")
    contains(reply.text, "&quot;&gt;&lt;script&gt;")


def a_form_like_another_test_starts_from_its_settings():
    values = read("/tests/form?like=1")["values"]
    equal((values["title"], values["tc"], float(values["elo0"])), ("Reads well", "nodes=1000", -300.0))
    equal(values["commit"], sql(server, f"SELECT new_commit FROM {MATCHES} WHERE id = 1")[0][0])
    equal(read("/tests/form?preset=LTC")["values"]["tc"], "60+0.6")


def an_uploaded_file_comes_back_as_text_when_it_is_refused():
    boundary, parts = "x1y2", ""
    for name, value in (("csrf", dev.csrf), ("title", "Kept"), ("tc", "10+0.1"), ("preset", "STC")):
        parts += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
    parts += (f'--{boundary}\r\nContent-Disposition: form-data; name="patch_file"; filename="a.patch"\r\n\r\n'
              f"this is no diff & never was\r\n--{boundary}--\r\n")
    reply = dev.request("POST", "/tests/new", parts.encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"})
    equal(reply.status, 422, reply)
    contains(reply.text, "this is no diff &amp; never was</textarea>")
    contains(reply.text, 'value="Kept"')


def listen(path):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60 * LOAD_FACTOR)
    connection.request("GET", "/api/v1" + path)
    return connection.getresponse()


def data_with(stream, member):
    """The data of the first event that has the member."""
    for line in stream:
        if line.startswith(b"data: ") and member in json.loads(line[6:]):
            return json.loads(line[6:])
    raise AssertionError("the stream ended")


def each_workload_has_statistics_of_its_own():
    worker, common = server.worker("w" * 32), EXAMPLES["tests.reply"]["items"][0]["stats"]
    common = {name: value for name, value in common.items() if name not in ("llr", "proven", "bounds", "sequential")}
    for workload, parameters, own, points in (("fixed", {}, {}, ["elo"]),
                                              ("width", {"error": 12.5, "unit": "normalized"}, EXAMPLES["width.stats"], ["elo", "error"])):
        reply = dev.api("POST", "/tests", {"title": workload, "patch": with_line("search/tt.c", f"// {workload}"), "tc": "nodes=1000",
                                           "batch_pairs": len(OUTCOMES), "workload": workload, "priority": 9, "elo0": -3, **parameters})
        equal(reply.status, 201, reply)
        path = f"/tests/{reply.json['id']}"
        equal(boss.api("POST", path + "/approve").status, 200)
        empty = read(path)["stats"]
        equal((empty["summary"], empty["units"], empty["plain"], sorted(empty["points"])), ("", 0, None, points))
        contains(anyone.get(path).text, "The chart appears after the first batch.")
        stream = listen("/stream" + path.replace("/tests/", "?test="))
        play(worker, claim(worker, workload))
        test, history = read(path), read(path + "/history")
        equal((test["workload"], test["settings"]["parameters"]), (workload, parameters))
        same_shape(test["stats"], {**common, **own, "points": dict.fromkeys(points, 1.5), "eta": test["stats"]["eta"]}, workload)
        equal(test["stats"]["summary"].split()[0], "nElo" if workload == "width" else "Elo")
        equal(data_with(stream, "points"), {"id": test["id"], "state": "active", **{name: test["stats"][name] for name in ("units", "summary", "points")}})
        stream.close()
        equal(sorted(history["points"]), points)
        equal([len(column) for column in (*history["points"].values(), history["units"], history["elo"])], [1] * (len(points) + 2))
        text = anyone.get(path).text
        contains(text, test["stats"]["text"])
        true("LLR" not in text, "a chart or a gauge that the test does not have")


def the_expected_worth_stands_beside_the_printed_elo():
    """Of 110 patches, those that are accepted were lucky: they are expected to be worth less than is printed of them."""
    def finish(number):
        won = number * 37 % 101 - 70
        test = add_test(server, "finished", title=f"worth {number}", result="accepted" if won > 0 else "rejected", finished=9, units_counted=1000,
                        counts=json.dumps({"v": 1, "ptnml": [5, 235 - won, 520, 235 + won, 5], "sprt": {"llr": 2.95}}))
        insert(server, "ideas", {"test_id": test, "engine_id": 1, "base_tree": "base", "tree": f"tree {number}", "missing": ""})
        insert(server, "events", {"created": 9, "type": "accepted", "test_id": test, "message": "", "last": 9})
        return f"/tests/{test}"

    def shown(number):
        return f"{number:+.2f}".replace("-", "\N{MINUS SIGN}")

    path = [finish(number) for number in range(99)][79]
    equal(read(path)["worth"]["text"], "Not known yet: it needs 100 finished first tests of this engine by <0.00, 2.00>, and there are 99.")
    contains(anyone.get(path).text, "it needs 100 finished first tests of this engine by &lt;0.00, 2.00&gt;, and there are 99.")
    for number in range(99, 110):
        finish(number)
    test = read(path)
    worth, printed = test["worth"], test["stats"]["plain"]["elo"]
    equal((test["result"], worth["known"], worth["prior"]["tests"]), ("accepted", True, 110))
    true(worth["low"] < worth["elo"] < worth["high"] and worth["elo"] < printed, worth)
    text = anyone.get(path).text
    contains(text, f"<b>{shown(worth['elo'])}</b> [{shown(worth['low'])}, {shown(worth['high'])}]")
    contains(text, worth["text"].replace("<", "&lt;").replace(">", "&gt;"))
    contains(text, f"<b>{shown(printed)} ")


def a_broken_template_keeps_the_server_from_starting_and_names_the_line():
    with tempfile.TemporaryDirectory(prefix="patchmate-web-") as folder:
        shutil.copytree(ROOT / "web", pathlib.Path(folder) / "web")
        page = pathlib.Path(folder) / "web" / "templates" / "home.html"
        page.write_text("<h1>Tests</h1>\n{{#totals}}\n")
        words = ("run", server.data, "--listen", "127.0.0.1:0", "--web", pathlib.Path(folder) / "web")
        done = server.command(*words, check=False, timeout=60 * LOAD_FACTOR)
    equal(done.returncode, 1)
    contains(done.stderr, "home, line 3: a section is never closed: totals")


def the_server_ends_well():
    equal(server.stop(), 0, "exit status; under sanitizers it tells of leaks")


def an_idle_test_says_what_keeps_each_machine():
    def idle(query=None, *values):
        if query:
            sql(server, query, *values)
        return read("/tests/2")["idle"]

    equal([read(f"/tests/{i}")["idle"] for i in (1, 3)], [None, None])
    equal(idle(), "Of the machines online (1), 1 could not play it (see the failures below).")
    contains(anyone.get("/tests/2").text, "1 could not play it (see the failures below)")
    other = server.worker("o" * 32)
    equal(idle(), "Of the machines online (2), 1 could not play it (see the failures below), "
          "1 may be about to take it, has just left or is short of memory.")
    contains(idle("UPDATE sides SET threads = 2 WHERE test_id = 2"), "1 offers fewer cores than a game needs, 1 may be")
    contains(idle("UPDATE workers SET cores = 1"), " 2 offer fewer cores than a game needs.")
    server.command("set", server.data, "sandbox_min", "2")
    contains(idle("UPDATE workers SET host = json_set(host, '$.sandbox', 1) WHERE id = 1"),
             " 1 offers fewer cores than a game needs, 1 has a weaker sandbox than this server wants.")
    server.command("set", server.data, "sandbox_min", "0")
    equal(idle("UPDATE sides SET threads = 1 WHERE test_id = 2").count("could not play"), 1)
    task = claim(other, "i")
    equal((task["test"]["id"], idle()), (2, None))
    contains(idle("UPDATE tasks SET test_id = 1 WHERE id = ?", task["id"]), "1 plays another test, 1 could not play it")
    equal(idle("UPDATE workers SET last_seen = last_seen - 1000"), "No machine is online.")


def main():
    global server
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        server = Server(init_options=["--book", str(write_plain_book(pathlib.Path(folder) / "book.epd"))], start=False)
    try:
        set_up()
        run(the_documents_are_as_documented, the_document_of_a_test_has_the_counted_results, a_failure_comes_with_its_log,
            the_page_shows_the_values_of_the_document, actions_depend_on_the_caller_and_give_the_reason_of_a_refusal, finished_tests_can_be_filtered,
            pages_follow_each_other_without_gap_or_repeat, events_can_be_filtered, what_is_not_there_is_a_404_in_both_languages,
            what_was_typed_cannot_break_out_of_a_page, a_form_like_another_test_starts_from_its_settings,
            an_uploaded_file_comes_back_as_text_when_it_is_refused,
            an_idle_test_says_what_keeps_each_machine, the_expected_worth_stands_beside_the_printed_elo, each_workload_has_statistics_of_its_own, a_broken_template_keeps_the_server_from_starting_and_names_the_line, the_server_ends_well)
    finally:
        server.close()


if __name__ == "__main__":
    main()
